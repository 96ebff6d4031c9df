//! A sealed stream: the messages of the key agreement, and then texts that are sealed and opened.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;

use super::error::SealError;
use super::key::{ID_BYTES, Key, KeyPair, Secret};
use super::noise::{Agreement, Ciphers};
use crate::random::hex;

/// A message of a sealed stream, as the relay sees it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Sealed<'a> {
    /// Base64 has no characters that JSON escapes.
    #[serde(borrow)]
    sealed: &'a str,
}

fn unwrap(message: &str) -> Option<Sealed<'_>> {
    // Serde reads an array as a struct, too.
    if !message.trim_start().starts_with('{') {
        return None;
    }
    serde_json::from_str(message).ok()
}

fn decode(message: &str) -> Result<Vec<u8>, SealError> {
    let sealed = unwrap(message).ok_or(SealError::NotSealed)?.sealed;
    STANDARD.decode(sealed).map_err(|_| SealError::Tampered)
}

fn encode(bytes: &[u8]) -> String {
    format!(r#"{{"sealed":"{}"}}"#, STANDARD.encode(bytes))
}

/// Returns whether a message is one of a sealed stream.
#[must_use]
pub fn is_sealed(message: &str) -> bool {
    unwrap(message).is_some()
}

/// The client's part of a key agreement that has begun.
#[derive(Debug)]
pub struct ClientAgreement(Agreement);

impl ClientAgreement {
    /// Begins a sealed stream. Returns its first message.
    ///
    /// # Errors
    ///
    /// Returns an error if the system has no random numbers.
    pub fn begin(keys: &KeyPair, secret: &Secret) -> Result<(Self, String), SealError> {
        let mut agreement = Agreement::client(&keys.private.0, &secret.key.0)?;
        let message = agreement.write(&id_bytes(&secret.id).ok_or(SealError::NoAgreement)?)?;
        Ok((Self(agreement), encode(&message)))
    }

    /// Takes the server's answer. Returns the stream, the key of the server, and the message that completes the
    /// agreement. Without an `expected` key of the server, the key is proved by the first message that the stream opens,
    /// and must not be kept before.
    ///
    /// # Errors
    ///
    /// Returns an error if the server has another key than expected, or the message was changed.
    pub fn finish(mut self, message: &str, expected: Option<&Key>) -> Result<(Channel, Key, String), SealError> {
        self.0.read(&decode(message)?)?;
        let server = Key(self.0.other()?);
        if expected.is_some_and(|expected| *expected != server) {
            return Err(SealError::OtherServer);
        }
        let last = self.0.write(&[])?;
        Ok((Channel::new(self.0.ciphers()?), server, encode(&last)))
    }
}

/// The server's part of a key agreement that has begun.
#[derive(Debug)]
pub struct ServerAgreement(Agreement);

impl ServerAgreement {
    /// Takes the first message of a stream. Returns the id of the client's secret.
    ///
    /// # Errors
    ///
    /// Returns an error if the message does not begin a key agreement.
    pub fn begin(keys: &KeyPair, message: &str) -> Result<(Self, String), SealError> {
        let mut agreement = Agreement::server(&keys.private.0)?;
        let id = agreement.read(&decode(message)?)?;
        if id.len() != ID_BYTES {
            return Err(SealError::NoAgreement);
        }
        Ok((Self(agreement), hex(&id)))
    }

    /// Returns the answer to the first message.
    ///
    /// # Errors
    ///
    /// Returns an error if the system has no random numbers.
    pub fn answer(&mut self) -> Result<String, SealError> {
        Ok(encode(&self.0.write(&[])?))
    }

    /// Takes the message that completes the agreement. Returns the stream and the key of the client, which has proved
    /// that it has the secret.
    ///
    /// # Errors
    ///
    /// Returns an error if the client has another secret, or a message was changed.
    pub fn finish(mut self, secret: &Secret, message: &str) -> Result<(Channel, Key), SealError> {
        self.0.set_secret(&secret.key.0)?;
        self.0.read(&decode(message)?)?;
        let client = Key(self.0.other()?);
        Ok((Channel::new(self.0.ciphers()?), client))
    }
}

/// A sealed stream, after the key agreement. The directions do not depend on each other: an end that cannot open a
/// message can still say so.
#[derive(Debug)]
pub struct Channel {
    ciphers: Ciphers,
    has_failed: bool,
}

impl Channel {
    fn new(ciphers: Ciphers) -> Self {
        Self { ciphers, has_failed: false }
    }

    /// Seals a text. The messages have to be sent in the order in which they were sealed.
    ///
    /// # Errors
    ///
    /// Returns an error if the text is too long. Nothing was sealed then, and the stream can go on.
    pub fn seal(&mut self, text: &str) -> Result<String, SealError> {
        Ok(encode(&self.ciphers.seal(text.as_bytes())?))
    }

    /// Opens the next message of the other end.
    ///
    /// # Errors
    ///
    /// Returns an error if the message is not the one that the other end has sealed next. No later one is opened.
    pub fn open(&mut self, message: &str) -> Result<String, SealError> {
        if self.has_failed {
            return Err(SealError::Ended);
        }
        let opened = self.try_open(message);
        self.has_failed = opened.is_err();
        opened
    }

    fn try_open(&mut self, message: &str) -> Result<String, SealError> {
        let text = self.ciphers.open(&decode(message)?)?;
        String::from_utf8(text).map_err(|_| SealError::Tampered)
    }
}

fn id_bytes(id: &str) -> Option<[u8; ID_BYTES]> {
    let mut bytes = [0; ID_BYTES];
    if id.len() != 2 * ID_BYTES || !id.is_ascii() {
        return None;
    }
    for (byte, start) in bytes.iter_mut().zip((0..).step_by(2)) {
        *byte = u8::from_str_radix(&id[start..start + 2], 16).ok()?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::key::SealingCode;
    use super::*;

    fn pair() -> (Channel, Channel) {
        let secret = SealingCode::random().expect("random numbers").secret();
        let [client, server] = [KeyPair::generate(), KeyPair::generate()].map(|keys| keys.expect("random numbers"));
        let (of_client, first) = ClientAgreement::begin(&client, &secret).expect("a message");
        let (mut of_server, id) = ServerAgreement::begin(&server, &first).expect("it is good");
        assert_eq!(id, secret.id);
        let second = of_server.answer().expect("a message");
        let (at_client, key, third) = of_client.finish(&second, None).expect("it is good");
        assert_eq!(key, server.public);
        let (at_server, key) = of_server.finish(&secret, &third).expect("it is good");
        assert_eq!(key, client.public);
        (at_client, at_server)
    }

    #[test]
    fn a_sealed_message_is_an_object_with_one_member() {
        let (mut client, _) = pair();
        let sealed = client.seal("text").expect("it is sealed");
        assert!(is_sealed(&sealed) && sealed.starts_with(r#"{"sealed":""#), "{sealed}");
        for other in
            [r#"{"id":0,"method":"initialize"}"#, r#"["AAAA"]"#, r#"{"sealed":7}"#, "{}", r#"{"sealed":"","id":1}"#]
        {
            assert!(!is_sealed(other), "{other}");
        }
    }

    #[test]
    fn nobody_without_the_code_takes_either_part() {
        let secret = SealingCode::random().expect("random numbers").secret();
        let wrong = SealingCode::random().expect("random numbers").secret();
        let [client, server, relay] = [(); 3].map(|()| KeyPair::generate().expect("random numbers"));
        // A client with another code.
        let (of_client, first) = ClientAgreement::begin(&client, &wrong).expect("a message");
        let (mut of_server, _) = ServerAgreement::begin(&server, &first).expect("anybody can begin");
        let (_, _, third) = of_client.finish(&of_server.answer().expect("a message"), None).expect("not proved yet");
        assert_eq!(of_server.finish(&secret, &third).err(), Some(SealError::NoAgreement));
        // A relay that takes the server's part, and does not know the code: nothing that it sends is opened.
        let (of_client, first) = ClientAgreement::begin(&client, &secret).expect("a message");
        let (mut of_relay, _) = ServerAgreement::begin(&relay, &first).expect("anybody can begin");
        let second = of_relay.answer().expect("a message");
        let (mut at_client, _, third) = of_client.finish(&second, None).expect("not proved yet");
        assert_eq!(of_relay.finish(&wrong, &third).err(), Some(SealError::NoAgreement));
        let (_, mut other) = pair();
        assert_eq!(at_client.open(&other.seal("text").expect("sealed")), Err(SealError::Tampered));
        // Later, the client knows the server's key, and tells nothing to another one.
        let (of_client, first) = ClientAgreement::begin(&client, &secret).expect("a message");
        let (mut of_relay, _) = ServerAgreement::begin(&relay, &first).expect("anybody can begin");
        let second = of_relay.answer().expect("a message");
        assert_eq!(of_client.finish(&second, Some(&server.public)).err(), Some(SealError::OtherServer));
    }

    #[test]
    fn after_an_error_nothing_is_opened_but_the_other_direction_goes_on() {
        let (mut client, mut server) = pair();
        let good = client.seal("text").expect("it is sealed");
        assert_eq!(server.open(r#"{"id":1}"#), Err(SealError::NotSealed));
        assert_eq!(server.open(&good), Err(SealError::Ended));
        let why = server.seal("why").expect("it is sealed");
        assert_eq!(client.open(&why).as_deref(), Ok("why"));
    }

    /// What a relay can do to the messages of a direction.
    #[derive(Debug, Clone)]
    enum Attack {
        /// One bit of a message is changed.
        Flip { message: usize, bit: usize },
        /// A message loses its end.
        Cut { message: usize, keep: usize },
        /// A message is left out.
        Drop(usize),
        /// An earlier message comes again, in front of a message.
        Repeat { earlier: usize, before: usize },
        /// Two messages change places.
        Swap(usize, usize),
        /// Two messages that follow each other become one.
        Join(usize),
        /// A message becomes two.
        Split { message: usize, at: usize },
        /// A message of the other direction.
        Reflect(usize),
        /// The message with this number of another stream of the same ends.
        Exchange(usize),
    }

    const MESSAGES: usize = 5;

    fn attack() -> impl Strategy<Value = Attack> {
        let message = 0..MESSAGES;
        prop_oneof![
            (message.clone(), any::<usize>()).prop_map(|(message, bit)| Attack::Flip { message, bit }),
            (message.clone(), any::<usize>()).prop_map(|(message, keep)| Attack::Cut { message, keep }),
            message.clone().prop_map(Attack::Drop),
            (message.clone(), message.clone()).prop_map(|(earlier, before)| Attack::Repeat { earlier, before }),
            (message.clone(), message.clone()).prop_map(|(first, second)| Attack::Swap(first, second)),
            (0..MESSAGES - 1).prop_map(Attack::Join),
            (message.clone(), any::<usize>()).prop_map(|(message, at)| Attack::Split { message, at }),
            message.clone().prop_map(Attack::Reflect),
            message.prop_map(Attack::Exchange),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(192))]

        #[test]
        fn a_changed_key_agreement_seals_nothing(message in 0_usize..3, bit in any::<usize>(), is_cut in any::<bool>()) {
            let change = |at: usize, text: String| {
                if at != message {
                    return text;
                }
                let mut bytes = decode(&text).expect("base64");
                if is_cut {
                    bytes.truncate(bit % bytes.len());
                } else {
                    let bits = 8 * bytes.len();
                    bytes[bit % bits / 8] ^= 1 << (bit % 8);
                }
                encode(&bytes)
            };
            let secret = SealingCode::random().expect("random numbers").secret();
            let [client, server] = [KeyPair::generate(), KeyPair::generate()].map(|keys| keys.expect("random numbers"));
            let agreed = (|| {
                let (of_client, first) = ClientAgreement::begin(&client, &secret)?;
                let (mut of_server, _) = ServerAgreement::begin(&server, &change(0, first))?;
                let (_, _, third) = of_client.finish(&change(1, of_server.answer()?), None)?;
                of_server.finish(&secret, &change(2, third))
            })();
            prop_assert_eq!(agreed.err(), Some(SealError::NoAgreement));
        }

        #[test]
        fn whatever_the_relay_does_no_other_text_is_opened(
            texts in prop::collection::vec("[a-zä\"{]{0,20}", MESSAGES),
            is_long in 0..MESSAGES + 1,
            attack in attack(),
        ) {
            let texts: Vec<String> = texts
                .iter()
                .enumerate()
                .map(|(at, text)| if at == is_long { text.clone() + &"long ".repeat(30_000) } else { text.clone() })
                .collect();
            let (mut client, mut server) = pair();
            let sealed: Vec<String> = texts.iter().map(|text| client.seal(text).expect("it is sealed")).collect();
            let (mut elsewhere, _) = pair();
            let others: Vec<String> = texts.iter().map(|text| elsewhere.seal(text).expect("it is sealed")).collect();
            let reflected: Vec<String> = texts.iter().map(|text| server.seal(text).expect("it is sealed")).collect();
            let mut raw: Vec<Vec<u8>> = sealed.iter().map(|message| decode(message).expect("base64")).collect();
            match attack {
                Attack::Flip { message, bit } => {
                    let bits = 8 * raw[message].len();
                    raw[message][bit % bits / 8] ^= 1 << (bit % 8);
                }
                Attack::Cut { message, keep } => {
                    let keep = keep % raw[message].len();
                    raw[message].truncate(keep);
                }
                Attack::Drop(message) => drop(raw.remove(message)),
                Attack::Repeat { earlier, before } => {
                    let message = raw[earlier].clone();
                    raw.insert(before, message);
                }
                Attack::Swap(first, second) => raw.swap(first, second),
                Attack::Join(message) => {
                    let second = raw.remove(message + 1);
                    raw[message].extend(second);
                }
                Attack::Split { message, at } => {
                    let at = at % (raw[message].len() + 1);
                    let second = raw[message].split_off(at);
                    raw.insert(message + 1, second);
                }
                Attack::Reflect(message) => raw[message] = decode(&reflected[message]).expect("base64"),
                Attack::Exchange(message) => raw[message] = decode(&others[message]).expect("base64"),
            }
            let mut opened = Vec::new();
            let mut has_failed = false;
            for message in &raw {
                match server.open(&encode(message)) {
                    Ok(text) => {
                        prop_assert!(!has_failed, "nothing is opened after an error");
                        opened.push(text);
                    }
                    Err(_) => has_failed = true,
                }
            }
            let original: Vec<Vec<u8>> = sealed.iter().map(|message| decode(message).expect("base64")).collect();
            prop_assert!(texts.starts_with(&opened), "what is opened is what was sealed, in order");
            // Only what leaves the messages as they are, or takes away the last ones, is not noticed here.
            let is_unnoticed = original.starts_with(&raw);
            prop_assert_eq!(has_failed, !is_unnoticed);
        }
    }
}
