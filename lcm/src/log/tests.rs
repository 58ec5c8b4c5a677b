use super::*;
use proptest::prelude::*;
use std::fs;
use std::io::Write as _;
use std::path::PathBuf;

struct Dir {
    _dir: tempfile::TempDir,
    path: PathBuf,
}

fn dir() -> Dir {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("log.lcm");
    Dir { _dir: dir, path }
}

/// The bytes of an event, written by hand.
fn bytes(number: i64, timestamp: i64, channel: &str, data: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0xED, 0xA1, 0xDA, 0x01];
    bytes.extend(number.to_be_bytes());
    bytes.extend(timestamp.to_be_bytes());
    bytes.extend((channel.len() as i32).to_be_bytes());
    bytes.extend((data.len() as i32).to_be_bytes());
    bytes.extend(channel.as_bytes());
    bytes.extend(data);
    bytes
}

/// Reads a file with these bytes: timestamps, number of skipped bytes, whether it is truncated.
fn read(bytes: &[u8]) -> (Vec<i64>, u64, bool) {
    let dir = dir();
    fs::write(&dir.path, bytes).unwrap();
    let mut log = LogReader::open(&dir.path).unwrap();
    let times = log.by_ref().map(|event| event.unwrap().timestamp).collect();
    assert!(log.next().is_none());
    (times, log.skipped_bytes(), log.is_truncated())
}

#[test]
fn events_are_written_as_the_format_says() {
    let dir = dir();
    let mut log = LogWriter::create(&dir.path).unwrap();
    log.write(5, "A", b"x").unwrap();
    assert_eq!(fs::metadata(&dir.path).unwrap().len(), 0, "collected");
    log.flush().unwrap();
    log.write(-6, "CHANNEL", &vec![7; 100_000]).unwrap();
    log.write(i64::MAX, "\u{e9}", b"").unwrap();
    drop(log);
    let expected = [
        bytes(0, 5, "A", b"x"),
        bytes(1, -6, "CHANNEL", &vec![7; 100_000]),
        bytes(2, i64::MAX, "\u{e9}", b""),
    ];
    assert_eq!(fs::read(&dir.path).unwrap(), expected.concat());
    let events: Vec<LogEvent> = LogReader::open(&dir.path)
        .unwrap()
        .map(Result::unwrap)
        .collect();
    let event = LogEvent {
        number: 1,
        timestamp: -6,
        channel: "CHANNEL".into(),
        data: vec![7; 100_000],
    };
    assert_eq!((events.len(), &events[1]), (3, &event));
}

#[test]
fn an_empty_log_has_no_events() {
    assert_eq!(read(b""), (vec![], 0, false));
    let dir = dir();
    drop(LogWriter::create(&dir.path).unwrap());
    assert_eq!(LogReader::open(&dir.path).unwrap().count(), 0);
}

#[test]
fn garbage_is_skipped_and_counted() {
    let [a, b, c] = [10, 20, 30].map(|t| bytes(0, t, "CH", b"data"));
    let sync: &[u8] = &[0xED, 0xA1, 0xDA, 0x01];
    let near = &[0xED, 0xED, 0xA1, 0xDA];
    let all = [
        b"garbage",
        a.as_slice(),
        sync,
        near,
        &b,
        &c[..9],
        &c,
        b"end",
    ]
    .concat();
    assert_eq!(read(&all), (vec![10, 20, 30], 7 + 4 + 4 + 9 + 3, false));
    // Lengths that no event may have.
    let mut wrong = b.clone();
    for (at, with) in [
        (20, [0xff; 4]),
        (24, [0xff; 4]),
        (20, [0; 4]),
        (20, [0, 0, 4, 0]),
    ] {
        wrong.clone_from(&b);
        wrong[at..at + 4].copy_from_slice(&with);
        let all = [&a, &wrong, &c].map(Vec::as_slice).concat();
        assert_eq!(
            read(&all),
            (vec![10, 30], b.len() as u64, false),
            "{with:?} at {at}"
        );
    }
}

#[test]
fn lengths_beyond_the_end_of_the_file_are_garbage() {
    let [a, b, c] = [10, 20, 30].map(|t| bytes(0, t, "CH", b"data"));
    let mut wrong = b.clone();
    wrong[24..28].copy_from_slice(&i32::MAX.to_be_bytes());
    let all = [&a, &wrong, &c].map(Vec::as_slice).concat();
    assert_eq!(read(&all), (vec![10, 30], b.len() as u64, false));
    // As the last event, it counts as truncated.
    let all = [&a, &c, &wrong].map(Vec::as_slice).concat();
    assert_eq!(read(&all), (vec![10, 30], 0, true));
    // The file is long enough for this one, as a sparse file.
    let dir = dir();
    let mut large = bytes(1, 20, "CH", b"");
    large[24..28].copy_from_slice(&(300_i32 << 20).to_be_bytes());
    let mut file = File::create(&dir.path).unwrap();
    io::Write::write_all(&mut file, &[&a, &large].map(Vec::as_slice).concat()).unwrap();
    file.set_len((a.len() + large.len()) as u64 + (300 << 20))
        .unwrap();
    let mut log = LogReader::open(&dir.path).unwrap();
    assert_eq!(log.next().unwrap().unwrap().timestamp, 10);
    let error = log.next().unwrap().unwrap_err().to_string();
    let start = a.len();
    assert!(
        error.contains(&format!(
            "log.lcm: the event at byte {start} must have at most 268435456 bytes, got 314572800"
        )),
        "{error}"
    );
    assert!(log.next().is_none());
}

#[test]
fn every_truncation_is_detected() {
    let [a, b] = [10, 20].map(|t| bytes(0, t, "CH", b"data"));
    let all = [a.clone(), b].concat();
    for len in 1..all.len() {
        let whole = usize::from(len >= a.len());
        let (times, skipped, truncated) = read(&all[..len]);
        assert_eq!((times.len(), skipped), (whole, 0), "{len} bytes");
        assert_eq!(truncated, len != a.len(), "{len} bytes");
    }
}

#[test]
fn a_channel_must_be_text() {
    let mut wrong = bytes(0, 1, "CH", b"");
    wrong[28] = 0xff;
    let dir = dir();
    fs::write(&dir.path, [wrong, bytes(1, 2, "CH", b"")].concat()).unwrap();
    let mut log = LogReader::open(&dir.path).unwrap();
    let error = log.next().unwrap().unwrap_err().to_string();
    assert!(error.ends_with("the channel of the event at byte 0 is not UTF-8; it is left out"));
    assert_eq!(log.next().unwrap().unwrap().timestamp, 2);
}

#[test]
fn files_that_are_not_logs_are_refused() {
    let dir = dir();
    let opened = || {
        LogReader::open(&dir.path)
            .map(|_| ())
            .unwrap_err()
            .to_string()
    };
    let appended = || {
        LogWriter::append(&dir.path)
            .map(|_| ())
            .unwrap_err()
            .to_string()
    };
    assert!(opened().contains("log.lcm: "), "{}", opened());
    fs::write(
        &dir.path,
        "just text, which ends with a byte like that of logs\u{ed}",
    )
    .unwrap();
    let before = fs::read(&dir.path).unwrap();
    assert!(
        opened().ends_with("the file must be an LCM log, got 53 bytes without an event"),
        "{}",
        opened()
    );
    assert!(
        appended().contains("the file must be an LCM log to append to, got no event at byte 0")
    );
    let error = LogReader::open(&dir.path).err().unwrap();
    assert_eq!(error.kind(), crate::ErrorKind::Parse);
    let file = error.location().map(|place| place.file.clone());
    assert_eq!(file, Some(dir.path.display().to_string()));
    fs::write(&dir.path, [0xED]).unwrap();
    assert!(appended().contains("got no event at byte 0"));
    fs::write(
        &dir.path,
        [bytes(0, 1, "X", b"1"), b"text".to_vec()].concat(),
    )
    .unwrap();
    assert!(appended().contains("got no event at byte 30"));
    assert_eq!(fs::metadata(&dir.path).unwrap().len(), 34);
    assert_eq!(before.len(), 53);
    let directory = dir.path.parent().unwrap();
    let error = LogReader::open(directory).unwrap_err().to_string();
    assert!(error.contains("a log must be a regular file"), "{error}");
}

#[cfg(unix)]
#[test]
fn devices_and_pipes_are_refused() {
    let dir = dir();
    let made = std::process::Command::new("mkfifo").arg(&dir.path).status();
    let mut paths = vec![PathBuf::from("/dev/zero"), "/dev/null".into()];
    match made {
        Ok(status) if status.success() => paths.push(dir.path.clone()),
        // Unlike captured output, this is shown for passing tests, too.
        _ => drop(writeln!(io::stderr(), "SKIPPED: pipes, there is no mkfifo")),
    }
    for path in paths {
        for result in [
            LogReader::open(&path).map(|_| ()),
            LogWriter::create(&path).map(|_| ()),
            LogWriter::append(&path).map(|_| ()),
        ] {
            let error = result.unwrap_err().to_string();
            assert!(error.contains("a log must be a regular file"), "{error}");
        }
    }
}

#[test]
fn invalid_channels_and_oversized_messages_are_refused() {
    let dir = dir();
    let mut log = LogWriter::create(&dir.path).unwrap();
    let refused = |result: Result<()>| result.unwrap_err().to_string();
    assert!(refused(log.write(0, "", b"")).contains(
        "log.lcm: the channel must have 1 to 999 bytes without a zero, got '' (0 bytes)"
    ));
    assert!(refused(log.write(0, "a\0b", b"")).contains("got 'a\\0b' (3 bytes)"));
    assert!(refused(log.write(0, &"x".repeat(1000), b"")).contains("(1000 bytes)"));
    let large = vec![0; (256 << 20) + 1];
    assert!(
        refused(log.write(0, "X", &large))
            .contains("must have at most 268435456 bytes, got 268435457")
    );
    log.write(3, &"x".repeat(999), b"").unwrap();
    drop(log);
    let events: Vec<_> = LogReader::open(&dir.path)
        .unwrap()
        .map(Result::unwrap)
        .collect();
    assert_eq!((events.len(), events[0].number), (1, 0));
}

#[test]
fn appending_continues_after_the_last_whole_event() {
    let dir = dir();
    LogWriter::append(&dir.path)
        .unwrap()
        .write(1, "A", b"1")
        .unwrap();
    LogWriter::append(&dir.path)
        .unwrap()
        .write(2, "B", b"2")
        .unwrap();
    let whole = fs::read(&dir.path).unwrap();
    assert_eq!(
        whole,
        [bytes(0, 1, "A", b"1"), bytes(1, 2, "B", b"2")].concat()
    );
    // Appending removes any part of a second event.
    for len in 31..60 {
        fs::write(&dir.path, &whole[..len]).unwrap();
        LogWriter::append(&dir.path)
            .unwrap()
            .write(3, "C", b"3")
            .unwrap();
        let now = fs::read(&dir.path).unwrap();
        assert_eq!(
            now,
            [bytes(0, 1, "A", b"1"), bytes(1, 3, "C", b"3")].concat(),
            "{len}"
        );
    }
    // Numbering continues from the last event's number.
    fs::write(&dir.path, bytes(41, 1, "A", b"1")).unwrap();
    LogWriter::append(&dir.path)
        .unwrap()
        .write(2, "B", b"")
        .unwrap();
    let last = LogReader::open(&dir.path).unwrap().last().unwrap().unwrap();
    assert_eq!((last.number, last.timestamp), (42, 2));
}

#[test]
fn seeking_finds_the_first_event_at_or_after_a_time() {
    let dir = dir();
    let mut log = LogWriter::create(&dir.path).unwrap();
    // Times 0, 0, 30, 30, 60, 60, ...; data between 0 and 200 kB, full of sync words.
    let times: Vec<i64> = (0..400).map(|k| k / 2 * 30).collect();
    for (k, time) in times.iter().enumerate() {
        let data = [0xED, 0xA1, 0xDA, 0x01].repeat((k * k * 7919) % 500 * (k % 101));
        log.write(*time, "X", &data).unwrap();
    }
    drop(log);
    assert!(fs::metadata(&dir.path).unwrap().len() > 10_000_000);
    let mut log = LogReader::open(&dir.path).unwrap();
    for target in (-40..6100).step_by(7).chain([i64::MIN, i64::MAX, 30, 60]) {
        log.seek_to_timestamp(target).unwrap();
        let expected = times.iter().position(|time| *time >= target);
        let found = log.next().map(|event| event.unwrap().number as usize);
        assert_eq!(found, expected, "{target}");
    }
    assert_eq!((log.skipped_bytes(), log.is_truncated()), (0, false));
    // Moves to the end and back; then all events can be read again.
    log.seek_to_timestamp(i64::MAX).unwrap();
    assert!(log.next().is_none() && log.next().is_none());
    log.seek_to_timestamp(0).unwrap();
    assert_eq!(log.count(), 400);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn events_with_garbage_between_come_back(
        parts in prop::collection::vec(
            (prop::collection::vec(0_u8..0xED, 0..40), any::<i64>(), "[a-z]{1,20}", prop::collection::vec(any::<u8>(), 0..90)),
            0..12,
        ),
        seed: u64,
    ) {
        let mut all = Vec::new();
        let (mut expected, mut garbage) = (Vec::new(), 0);
        let mut times: Vec<i64> = parts.iter().map(|part| part.1 / 2).collect();
        times.sort_unstable();
        for (k, (between, _, channel, data)) in parts.iter().enumerate() {
            // An empty file is a valid log; a file with bytes but no event is not.
            all.extend(between);
            garbage += between.len() as u64;
            all.extend(bytes(k as i64, times[k], channel, data));
            expected.push(times[k]);
        }
        let (times, skipped, truncated) = read(&all);
        prop_assert_eq!(&times, &expected);
        prop_assert_eq!((skipped, truncated), (garbage, false));
        let dir = dir();
        fs::write(&dir.path, &all).unwrap();
        let mut log = LogReader::open(&dir.path).unwrap();
        let target = expected.get(seed as usize % (expected.len() + 1)).copied().unwrap_or(i64::MAX);
        log.seek_to_timestamp(target).unwrap();
        let found = log.next().map(|event| event.unwrap().timestamp);
        prop_assert_eq!(found, expected.iter().copied().find(|time| *time >= target));
    }

    #[test]
    fn arbitrary_bytes_do_not_break_the_reader(
        parts in prop::collection::vec(
            (0_u8..4, prop::collection::vec(any::<u8>(), 0..40), 0_usize..64),
            0..12,
        ),
    ) {
        let mut all = Vec::new();
        for (kind, noise, cut) in parts {
            let event = bytes(1, 2, "CH", &noise);
            match kind {
                0 => all.extend(noise),
                1 => all.extend(&event[..cut.min(event.len())]),
                2 => all.extend([0xED, 0xA1, 0xDA, 0x01]),
                _ => all.extend(event),
            }
        }
        fuzz(&all);
    }
}
