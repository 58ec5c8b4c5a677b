//! Full disks: the old file stays, no partial file is left, and the message names the cause.

#![cfg(target_os = "linux")]

use std::path::Path;
use std::process::Command;
use tarragon_sensors::*;

/// A disk of 64 KiB; mounting it needs the rights of an administrator.
struct SmallDisk(tempfile::TempDir);

impl SmallDisk {
    fn mount() -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", "size=64k", "tmpfs"]);
        if mount
            .arg(folder.path())
            .output()
            .is_ok_and(|o| o.status.success())
        {
            return Some(Self(folder));
        }
        eprintln!("skipped: a disk can be mounted by the administrator only");
        None
    }
    fn files(&self) -> usize {
        std::fs::read_dir(self.0.path()).unwrap().count()
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.0.path()).output();
    }
}

fn noise() -> ImageRgba8U {
    // Knuth's linear congruential generator.
    let mut state = 1_u64;
    let mut next = || {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (state >> 56) as u8
    };
    ImageRgba8U::from_data(300, 200, (0..300 * 200 * 4).map(|_| next()).collect()).unwrap()
}

fn check(message: &str, path: &Path) {
    let expected = format!(
        "{}: cannot be written; free some space or choose another disk: No space left on device",
        path.display()
    );
    assert!(message.contains(&expected), "{message}");
}

#[test]
fn images_are_written_whole_or_not_at_all() {
    let Some(disk) = SmallDisk::mount() else {
        return;
    };
    let io = ImageIo::new();
    let (small, large) = (ImageRgba8U::with_value(4, 3, 7), noise());
    for extension in ["png", "tiff", "jpg"] {
        let path = disk.0.path().join(format!("a.{extension}"));
        io.save(&small, &path).unwrap();
        let before = io.load(&path).unwrap();
        check(&io.save(&large, &path).unwrap_err().to_string(), &path);
        assert_eq!(io.load(&path).unwrap(), before, "the old file is untouched");
        assert_eq!(disk.files(), 1);
        std::fs::remove_file(&path).unwrap();
    }
}

#[test]
fn videos_are_written_whole_or_not_at_all() {
    let Some(disk) = SmallDisk::mount() else {
        return;
    };
    let image = noise();
    for extension in ["avi", "png"] {
        let path = disk.0.path().join(format!("a.{extension}"));
        let mut video = VideoFile::create(&path, 30.0).unwrap();
        let error = (0..9)
            .find_map(|_| video.write_frame(&image).err())
            .unwrap();
        check(&error.to_string(), &path);
        let text = video.write_frame(&image).unwrap_err().to_string();
        assert!(text.contains("the video has ended"), "{text}");
        drop(video);
        assert_eq!(disk.files(), 0, "no {extension} file is left");
    }
}
