//! Tests that look-alikes of secrets stay unchanged.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use serde_json::json;
use trace_recorder::redact::{Rules, redact_json};

use crate::noise::{ALNUM, BASE64, DIGITS, HEX, Noise, URL64};

/// Number of look-alikes of each random kind.
const EACH: usize = 16;

fn look_alikes() -> Vec<String> {
    let mut noise = Noise::new(99);
    let mut all: Vec<String> = Vec::new();
    for _ in 0..EACH {
        let noise = &mut noise;
        all.extend([
            noise.text(HEX, 40),
            format!("commit {}", noise.text(HEX, 40)),
            format!("sha256:{}", noise.text(HEX, 64)),
            format!("d41d8cd9 {}  ./file.tar.gz", noise.text(HEX, 64)),
            noise.uuid(),
            format!("thread {} of session {}", noise.uuid(), noise.uuid()),
            format!("\"integrity\": \"sha512-{}==\"", noise.text(BASE64, 86)),
            format!("checksum = \"{}\"", noise.text(HEX, 64)),
            format!("data:image/png;base64,iVBORw0KGgo{}", STANDARD.encode(noise.bytes(600))),
            STANDARD.encode(noise.bytes(300)),
            format!("call_{}", noise.text(ALNUM, 24)),
            format!("msg_{}", noise.text(HEX, 50)),
            format!("resp_{}", noise.text(HEX, 50)),
            format!("fc_{} rs_{} ctc_{}", noise.text(HEX, 50), noise.text(HEX, 50), noise.text(HEX, 50)),
            format!("index {}..{} 100644", noise.text(HEX, 7), noise.text(HEX, 7)),
            format!("https://example.org/a/{}?page_token={}", noise.uuid(), noise.text(DIGITS, 12)),
            format!("gAAAAAB{}", URL_SAFE_NO_PAD.encode(noise.bytes(200))),
            format!("ETag: \"{}\"", noise.text(HEX, 32)),
            format!("trace {} span {}", noise.text(HEX, 32), noise.text(HEX, 16)),
            format!("h1:{}=", noise.text(BASE64, 43)),
            format!("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{} me@host", noise.text(BASE64, 43)),
            format!("/nix/store/{}-name-1.2.3/bin", noise.text("0123456789abcdfghijklmnpqrsvwxyz", 32)),
            format!("max_tokens: {}, input_tokens={}", noise.text("123456789", 6), noise.text("123456789", 6)),
            format!("-----BEGIN CERTIFICATE-----\n{}\n-----END CERTIFICATE-----", noise.text(BASE64, 64)),
            format!("nonce={} cursor={}", noise.text(URL64, 22), noise.text(URL64, 40)),
        ]);
    }
    let fixed = [
        "API_KEY=YOUR_API_KEY",
        "OPENAI_API_KEY=sk-your-api-key-here-0123456789",
        "export TOKEN=${TOKEN}",
        "TOKEN=<token>",
        "curl -H \"Authorization: Bearer $API_KEY\" https://x",
        "Authorization: Bearer <token>",
        "Authorization: Bearer ${{ secrets.GITHUB_TOKEN }}",
        "api_key = os.environ[\"API_KEY\"]",
        "api_key = os.environ.get('API_KEY_V2')",
        "const token = process.env.TOKEN;",
        "password = get_password()",
        "password = getpass.getpass('Password: ')",
        "let password = read_password_from_stdin1(&mut input)?;",
        "def login(user: str, password: str) -> Token2:",
        "self.token = token",
        "password: string",
        "\"password\": {\"type\": \"string\"}",
        "\"secret\": null",
        "\"token_type\": \"bearer\"",
        "if token == other_token {",
        "the password is wrong, the token: expired",
        "password123 is a bad idea",
        "The `secret_name` field holds the name of the secret",
        "token_count: 128000",
        "next_page_token: abc123def456",
        "eos_token: <|endoftext|>",
        "PASSWORD=********",
        "password: xxxxxxxxxxxx",
        "https://user:password@example.com/",
        "https://$USER:$PASSWORD@example.com/",
        "postgres://{user}:{password}@{host}/{db}",
        "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        "npm ERR! code E401",
        "ssh-keygen -t ed25519 -f key",
        "kubectl create secret generic my-secret --from-file=key.json",
        "secretKeyRef: my-app-secrets",
        "git clone git@github.com:owner/repository.git",
        "task-force-one and risk-assessment-of-the-thing-that-was",
        "sk-learn and sk-image",
        "basic authentication is enabled",
        "Basic realm=\"Access to the site\"",
        "Set-Cookie: Path=/; HttpOnly; SameSite=Lax",
        "key: value",
        "primary_key=user_id_12345",
        "cache-key: linux-cargo-0123456789abcdef",
        "[redacted:api-key:0123abcd]",
        "API_KEY=[redacted:api-key:0123abcd]",
        "password: \"[redacted:password:0123abcd]\"",
        "%PASSWORD% and %(password)s and {{ password }}",
        "credentials: include",
        "auth: required",
        "passwd: files systemd",
        "token::Kind::Bearer2Thing",
        "keyboard layout us-intl-2",
        "OPENAI_API_KEY=sk-...",
        "daemon:*:19700:0:99999:7:::",
        "arn:aws:secretsmanager:eu-central-1:356282987881:secret:prod/ingest/db-7RTIAs",
        "auth-1  | <artifact name=\"bcprov-jdk18on-1.77.jar\">",
        "the password for node-exporter-9100 is kept elsewhere",
        "login to build-runner-2204 failed",
        "token refreshed, request_id: 3f2a9c1e-8a77-4f0e-9b1d-2c5e6f708192",
        "-----BEGIN RSA PRIVATE KEY-----\n...\n-----END RSA PRIVATE KEY-----",
    ];
    all.extend(fixed.map(str::to_owned));
    all.extend(include_str!("harmless.txt").lines().map(str::to_owned));
    all.extend(include_str!("harmless_blocks.txt").split("\n%%\n").map(str::to_owned));
    all
}

#[test]
fn look_alikes_stay() {
    let all = look_alikes();
    assert!(all.len() >= 750, "{}", all.len());
    let mut changed = Vec::new();
    for text in &all {
        // The text is tested alone, in JSON in JSON, as a line among others, and quoted in a larger text.
        let places = [
            text.clone(),
            json!({ "cmd": text }).to_string(),
            format!("one line\n{text}\nand another\n"),
            format!("got {} back", json!({ "body": format!("{text}\n") })),
        ];
        for place in places {
            let document = json!({ "text": place }).to_string();
            let redacted = redact_json(document.as_bytes(), &Rules::default());
            if redacted != document.as_bytes() {
                changed.push((text, String::from_utf8_lossy(&redacted).into_owned()));
                break;
            }
        }
    }
    // The goal allows two in a hundred, but none is expected.
    assert!(changed.is_empty(), "{} of {}: {changed:#?}", changed.len(), all.len());
}

#[test]
fn what_the_provider_encrypted_and_what_the_format_names_stays() {
    let mut noise = Noise::new(3);
    let sealed = json!({ "encrypted_content": format!("gAAAA{}==", noise.text(URL64, 200)), "x": "y" }).to_string();
    assert_eq!(redact_json(sealed.as_bytes(), &Rules::default()), sealed.as_bytes());
    // Where the provider does not encrypt, the text itself stands there.
    let open = json!({ "encrypted_content": format!("deploy with token={}", noise.text(ALNUM, 30)) }).to_string();
    assert_ne!(redact_json(open.as_bytes(), &Rules::default()), open.as_bytes());
    for key in ["id", "call_id", "type", "thread_id", "model"] {
        let document = json!({ key: format!("token={}", noise.text(ALNUM, 30)), "x": "y" }).to_string();
        assert_eq!(redact_json(document.as_bytes(), &Rules::default()), document.as_bytes(), "{key}");
    }
}
