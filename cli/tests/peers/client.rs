//! A minimal client for the tests and the attackers.

use std::io::{self, Read, Write};
use std::path::Path;

use serde_json::{Value, json};

/// Returns an upgrade request for a WebSocket.
pub(crate) fn upgrade(token: Option<&str>) -> String {
    let token = token.map(|token| format!("Authorization: Bearer {token}\r\n")).unwrap_or_default();
    format!(
        "GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
         Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n{token}\r\n"
    )
}

/// Returns a client message as a frame.
pub(crate) fn frame(message: &Value) -> Vec<u8> {
    let text = message.to_string();
    let mut frame = vec![0x81];
    match u8::try_from(text.len()) {
        Ok(length) if length < 126 => frame.push(0x80 | length),
        _ => {
            frame.push(0x80 | 126);
            frame.extend(u16::try_from(text.len()).expect("a short message").to_be_bytes());
        }
    }
    // The mask is zero, so it does not change the payload.
    frame.extend([0; 4]);
    frame.extend(text.as_bytes());
    frame
}

pub(crate) fn initialize() -> Value {
    let info = json!({"name": "test", "version": "1"});
    json!({"id": 0, "method": "initialize",
        "params": {"clientInfo": info, "capabilities": {"experimentalApi": true}}})
}

/// Returns everything that is needed to have an unconfined process create a file: the upgrade, the handshake and the
/// request.
pub(crate) fn takeover(made: &Path, token: Option<&str>) -> Vec<u8> {
    let spawn = json!({"id": 1, "method": "process/spawn",
        "params": {"command": ["touch", made], "cwd": "/", "processHandle": "p"}});
    [upgrade(token).into_bytes(), frame(&initialize()), frame(&spawn)].concat()
}

/// Reads the status of an HTTP response. If there is none, it returns the reason.
pub(crate) fn status(stream: &mut impl Read) -> String {
    let mut head = Vec::new();
    let mut byte = [0];
    loop {
        match stream.read(&mut byte) {
            Ok(0) => break,
            Ok(_) if byte[0] == b'\r' => break,
            Ok(_) => head.push(byte[0]),
            Err(error) => return format!("{error}"),
        }
    }
    let head = String::from_utf8_lossy(&head);
    head.split(' ').nth(1).map_or_else(|| "closed".to_owned(), str::to_owned)
}

/// A WebSocket connection.
pub(crate) struct Client<S>(S);

impl<S: Read + Write> Client<S> {
    /// Opens a WebSocket and does the handshake of the protocol.
    pub(crate) fn open(stream: S) -> io::Result<Self> {
        Self::open_with(stream, None)
    }

    /// Opens a WebSocket with a token and does the handshake of the protocol.
    pub(crate) fn open_with(mut stream: S, token: Option<&str>) -> io::Result<Self> {
        stream.write_all(upgrade(token).as_bytes())?;
        let mut head = Vec::new();
        let mut byte = [0];
        while !head.ends_with(b"\r\n\r\n") {
            stream.read_exact(&mut byte)?;
            head.push(byte[0]);
        }
        if !head.starts_with(b"HTTP/1.1 101") {
            return Err(io::Error::other(String::from_utf8_lossy(&head).into_owned()));
        }
        let mut client = Self(stream);
        client.say(&initialize())?;
        client.answer(&json!(0))?;
        Ok(client)
    }

    pub(crate) fn say(&mut self, message: &Value) -> io::Result<()> {
        self.0.write_all(&frame(message))
    }

    /// Returns the response to a request. Messages before it are dropped.
    pub(crate) fn answer(&mut self, id: &Value) -> io::Result<Value> {
        loop {
            let message = self.hear()?;
            if message.get("method").is_none() && message["id"] == *id {
                return Ok(message);
            }
        }
    }

    pub(crate) fn hear(&mut self) -> io::Result<Value> {
        let mut head = [0; 2];
        self.0.read_exact(&mut head)?;
        let length = match head[1] {
            126 => {
                let mut length = [0; 2];
                self.0.read_exact(&mut length)?;
                u64::from(u16::from_be_bytes(length))
            }
            127 => {
                let mut length = [0; 8];
                self.0.read_exact(&mut length)?;
                u64::from_be_bytes(length)
            }
            length => u64::from(length),
        };
        let mut text = vec![0; usize::try_from(length).map_err(io::Error::other)?];
        self.0.read_exact(&mut text)?;
        serde_json::from_slice(&text).map_err(io::Error::other)
    }
}
