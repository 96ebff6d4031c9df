//! Reads any bytes as messages of a client, one per line. Each line must be a message or be dropped. A request must be
//! decoded or refused with an error of limited length. A decoded request must survive encoding and decoding.
#![no_main]

use libfuzzer_sys::fuzz_target;
use serde_json::value::to_raw_value;
use trace_protocol::envelope::{self, Incoming};
use trace_protocol::error::MAX_ECHOED_CHARS;
use trace_protocol::{ClientRequest, Experimental, ServerNotification, ServerRequest};

fuzz_target!(|bytes: &[u8]| {
    for line in bytes.split(|&byte| byte == b'\n') {
        match envelope::decode_bytes(line) {
            Incoming::Request { id, method, params, trace } => {
                let written = envelope::request(&id, &method, params.as_deref(), trace.as_ref()).expect("it is JSON");
                let Incoming::Request { id: again, method: same, .. } = envelope::decode(&written) else {
                    panic!("{written} is no request");
                };
                assert_eq!((again, &same), (id, &method));
                match ClientRequest::decode(&method, params.as_deref(), Experimental::Enabled) {
                    Ok(request) => {
                        assert_eq!(request.method(), method);
                        let _ = request.scope();
                        let params = to_raw_value(&request.params().expect("it is JSON")).expect("it is JSON");
                        let again = ClientRequest::decode(&method, Some(&params), Experimental::Enabled);
                        assert_eq!(again.expect("it was decoded before"), request);
                    }
                    Err(error) => assert!(error.message.chars().count() <= MAX_ECHOED_CHARS, "{error}"),
                }
                let _ = ClientRequest::decode(&method, params.as_deref(), Experimental::Disabled);
                if let Ok(request) = ServerRequest::decode(&method, params.as_deref()) {
                    request.params(Experimental::Disabled).expect("it is JSON");
                }
            }
            Incoming::Notification { method, params } => {
                if let Ok(Some(notification)) = ServerNotification::decode(&method, params.as_deref()) {
                    notification.encode(0).expect("it is JSON");
                }
            }
            Incoming::Response { .. } | Incoming::Error { .. } | Incoming::Dropped(_) => {}
        }
    }
});
