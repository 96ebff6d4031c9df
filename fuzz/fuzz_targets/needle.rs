//! Searches one text in another. Nothing may panic, and a text must be found inside of other text and in JSON-escaped form.
#![no_main]

use libfuzzer_sys::fuzz_target;
use trace_explain::why::Needle;

fuzz_target!(|texts: (String, String, u8)| {
    let (text, around, levels) = texts;
    let Ok(needle) = Needle::new(&text) else { return };
    needle.find(&around);
    assert!(needle.find(&text).is_some());
    assert!(needle.find(&format!("{around}{text}{around}")).is_some());
    let mut escaped = text.clone();
    for _ in 0..levels % 3 {
        escaped = serde_json::to_string(&escaped).expect("a string");
    }
    assert!(needle.find(&escaped).is_some(), "{escaped}");
});
