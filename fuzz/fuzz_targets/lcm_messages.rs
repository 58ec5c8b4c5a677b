//! Decodes arbitrary bytes as messages. A valid message survives encoding and decoding.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::time::Duration;
use tarragon_lcm::types::*;
use tarragon_lcm::{Lcm, LcmMessage, Subscriber, lcm_types};

lcm_types! {
    /// A type with nested arrays and recursion, which Drake's types do not have.
    struct fuzzed_tree {
        int8_t rows;
        int16_t columns;
        string names[rows][columns][2];
        boolean flags[columns];
        int64_t num_children;
        fuzzed_tree children[num_children];
    }
}

fn check<M: LcmMessage>(body: &[u8]) {
    let bytes = [&M::fingerprint().to_be_bytes(), body].concat();
    let decoded = M::decode(&bytes);
    let error = |e: &tarragon_lcm::Error| e.to_string();
    assert_eq!(
        M::check(&bytes).as_ref().map_err(error),
        decoded.as_ref().map(|_| &()).map_err(error)
    );
    let message = decoded.ok();
    let encode = |message: &M| {
        message
            .encode()
            .expect("decoded arrays have consistent lengths")
    };
    let written = message.as_ref().map(encode);
    if let Some(written) = &written {
        let again = M::decode(written).expect("encoded messages can be decoded");
        assert_eq!(encode(&again), *written);
    }
    // The same holds if arrays share the memory of the received bytes or of the sent message.
    let lcm = Lcm::with_url("memq://").expect("a queue");
    let heard = Subscriber::<M>::new(&lcm, "A").expect("a queue");
    let hear = || {
        lcm.handle_subscriptions(Duration::ZERO).expect("a queue");
        heard.with_message(|message| message.map(encode))
    };
    lcm.publish_bytes("A", &bytes, None).expect("a queue");
    assert_eq!(hear(), written);
    if let Some(message) = &message {
        lcm.publish("A", message).expect("a queue");
        assert_eq!(hear(), written);
        assert_eq!(heard.count(), 2);
    }
    assert!(M::decode(body).is_err() || body.len() >= 8);
}

fuzz_target!(|bytes: &[u8]| {
    let Some((kind, body)) = bytes.split_first() else {
        return;
    };
    match kind % 10 {
        0 => check::<FuzzedTree>(body),
        1 => check::<LcmtViewerLoadRobot>(body),
        2 => check::<LcmtViewerDraw>(body),
        3 => check::<LcmtImageArray>(body),
        4 => check::<LcmtPointCloud>(body),
        5 => check::<LcmtContactResultsForViz>(body),
        6 => check::<LcmtDrakeSignal>(body),
        7 => check::<LcmtRobotPlan>(body),
        8 => check::<LcmtPandaStatus>(body),
        _ => check::<LcmtCallPython>(body),
    }
});
