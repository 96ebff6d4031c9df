//! Makes secrets that look like words, or like nothing in particular, in every way of writing an assignment.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;

use crate::noise::{ALNUM, Noise};
use crate::planted::{Planted, in_context};

/// Returns a pronounceable word of small letters.
fn word(noise: &mut Noise, syllables: usize) -> String {
    const CONSONANTS: &[u8] = b"bdfgklmnprstvz";
    const VOWELS: &[u8] = b"aeiou";
    let mut letter = |letters: &[u8]| char::from(letters[noise.below(letters.len())]);
    (0..syllables).flat_map(|_| [letter(CONSONANTS), letter(VOWELS)]).collect()
}

fn capitalized(word: &str) -> String {
    word[..1].to_uppercase() + &word[1..]
}

/// Returns one word of eight letters or more.
fn single(noise: &mut Noise) -> String {
    let syllables = 4 + noise.below(6);
    word(noise, syllables)
}

/// Returns several words written together, in mixed case or with a mark between them.
fn joined(noise: &mut Noise) -> String {
    let (first, second, third) = (word(noise, 3), word(noise, 2), word(noise, 3));
    match noise.below(5) {
        0 => format!("{}{}", capitalized(&first), capitalized(&third)),
        1 => format!("{first}{}{}", capitalized(&second), capitalized(&third)),
        2 => format!("{first}-{second}-{third}-{}", word(noise, 2)),
        3 => format!("{first}.{second}!{third}"),
        _ => format!("{first}{second}{third}"),
    }
}

/// Returns a word with a letter or sign that is not ASCII.
fn foreign(noise: &mut Noise) -> String {
    let letter = ["ä", "ß", "é", "ñ", "ø", "漢字", "пар", "😀"][noise.below(8)];
    format!("{}{letter}{}", word(noise, 2), word(noise, 2))
}

/// Returns a passphrase.
fn phrase(noise: &mut Noise) -> String {
    (0..3 + noise.below(3)).map(|_| word(noise, 3)).collect::<Vec<_>>().join(" ")
}

/// Returns letters with marks that are special in shells, URLs or JSON.
fn marked(noise: &mut Noise) -> String {
    const MARKS: &[u8] = b"!@#%^&*()=+;|<>?~,:";
    let mut text = noise.text(ALNUM, 5);
    for _ in 0..4 {
        text.push(char::from(MARKS[noise.below(MARKS.len())]));
        let length = 1 + noise.below(3);
        text.push_str(&noise.text(ALNUM, length));
    }
    text
}

/// Returns a value that is written without quotes.
fn bare(noise: &mut Noise) -> String {
    match noise.below(4) {
        0 => single(noise),
        1 => joined(noise),
        2 => foreign(noise),
        _ => marked(noise),
    }
}

/// Returns a value that is written between quotes.
fn any(noise: &mut Noise) -> String {
    if noise.below(3) == 0 { phrase(noise) } else { bare(noise) }
}

/// Returns a value for a context that indicates a secret less clearly: one or two words in small letters.
fn plain(noise: &mut Noise) -> String {
    if noise.below(2) == 0 { single(noise) } else { format!("{}{}", word(noise, 3), word(noise, 4)) }
}

/// Returns a value for the command line of a shell without quotes.
fn argument(noise: &mut Noise) -> String {
    match noise.below(3) {
        0 => single(noise),
        1 => joined(noise),
        _ => foreign(noise),
    }
}

/// Returns the name of an environment variable that indicates a secret.
fn name(noise: &mut Noise) -> &'static str {
    const NAMES: &[&str] = &[
        "DB_PASSWORD",
        "POSTGRES_PASSWORD",
        "SMTP_PASS",
        "MYSQL_PWD",
        "REDIS_PASSWD",
        "BACKUP_PASSPHRASE",
        "JWT_SECRET",
        "APP_CLIENT_SECRET",
        "DEPLOY_TOKEN",
        "ACME_API_KEY",
        "STORAGE_ACCESS_KEY",
        "SIGNING_PRIVATE_KEY",
        "SECRET_KEY_BASE",
        "SERVICE_CREDENTIALS",
    ];
    NAMES[noise.below(NAMES.len())]
}

pub(crate) fn planted(noise: &mut Noise) -> Vec<Planted> {
    type Make = fn(&mut Noise) -> String;
    // NAME stands for a name that indicates a secret. The secret is between the two texts.
    let loud: &[(&str, &str, Make)] = &[
        ("\n# settings\nNAME=", "\nMODE=one\n", bare),
        ("\nNAME=\"", "\"\n", any),
        ("\nNAME='", "'\n", any),
        ("\nexport NAME=", "\n", bare),
        ("\nexport NAME='", "'\n", any),
        ("\nFROM scratch\nENV NAME=", "\nRUN make\n", bare),
        ("\nENV NAME ", "\nRUN make\n", argument),
        ("\nARG NAME=", "\n", argument),
        ("\n    environment:\n      - NAME=", "\n      - MODE=one\n", bare),
        ("\n    environment:\n      NAME: ", "\n      MODE: one\n", argument),
        ("\n      NAME: \"", "\"\n", any),
        ("\n[Service]\nEnvironment=NAME=", "\nRestart=no\n", argument),
        ("\n[Service]\nEnvironment=\"NAME=", "\"\n", any),
        ("\n$env:NAME = \"", "\"\n", any),
        ("\n$Env:NAME='", "'\n", any),
        ("\nset NAME=", "\r\n", bare),
        ("\nset \"NAME=", "\"\r\n", any),
        ("\nsetx NAME ", "\r\n", argument),
        ("docker run -e NAME=", " image", argument),
        ("docker run --env NAME='", "' image", any),
        ("docker run -e 'NAME=", "' image", any),
        ("NAME=", " make release", argument),
        ("env NAME=", " ./run --now", argument),
        ("cd x && NAME=\"", "\" ./run", any),
        ("os.environ[\"DB_PASSWORD\"] = \"", "\"\n", plain),
        ("process.env.DB_PASSWORD = '", "';\n", plain),
    ];
    // Contexts with their own names.
    let quiet: &[(&str, &str, Make)] = &[
        ("\n[database]\nuser = app\npassword=", "\nport=1\n", plain),
        ("\n[database]\npassword = \"", "\"\n", plain),
        ("\n[database]\npassword = \"", "\"\n", phrase),
        ("\nspring.datasource.password=", "\nspring.jpa.show=no\n", plain),
        ("\nuser: app\npassword: ", "\nport: 1\n", plain),
        ("\n  db_password: '", "'\n", phrase),
        ("{\"user\": \"app\", \"password\": \"", "\"}", plain),
        ("{\"user\": \"app\", \"password\": \"", "\"}", phrase),
        ("{\"client_secret\": \"", "\"}", plain),
        ("{\"env\": {\"DB_PASSWORD\": \"", "\"}}", any),
        ("{\"env\": [{\"name\": \"DB_PASSWORD\", \"value\": \"", "\"}]}", any),
        ("{\"command\": [\"run\", \"--password\", \"", "\", \"--now\"]}", plain),
        ("tool --user app --password=", " --now", plain),
        ("tool --token='", "' --now", plain),
        ("mysql -u root -p", " shop", argument),
        ("mysqldump --all -p'", "' > dump.sql", argument),
        ("curl -u admin:", " https://example.org/", argument),
        ("curl --user 'admin:", "' https://example.org/", argument),
        ("sshpass -p ", " ssh host", argument),
        ("sshpass -p '", "' ssh host", argument),
        ("PGPASSWORD=", " psql -h db", argument),
        ("redis-cli -h cache -a ", " ping", argument),
        ("openssl enc -aes-256-cbc -pass pass:", " -in a", argument),
        ("machine host login me password ", "\n", argument),
        ("<password>", "</password>", plain),
        ("postgres://app:", "@db:5432/app", argument),
        ("mysql://app:", "@db/app", argument),
        ("mongodb+srv://app:", "@cluster.example.org/app", argument),
        ("redis://default:", "@cache:6379", argument),
        ("amqps://app:", "@queue/", argument),
        ("https://me:", "@example.org/a.git", argument),
        ("ftp://me:", "@example.org/", argument),
        ("smtp://me:", "@mail.example.org:587", argument),
        ("\nDATABASE_URL=postgresql+psycopg://app:", "@db/app\n", argument),
        ("\nDATABASE_URL: \"jdbc:mysql://app:", "@db/app\"\n", argument),
    ];
    let mut all: Vec<Planted> = Vec::new();
    for (before, after, make) in loud.iter().chain(quiet) {
        let before = before.replace("NAME", name(noise));
        let secret = make(noise);
        all.push(in_context("password", &secret, &before, after));
    }
    let basic = STANDARD.encode(format!("user:{}", plain(noise)));
    all.push(in_context("basic-auth", &basic, "Authorization: Basic ", "\r\n"));
    // JSON in JSON.
    let (secret, other) = (phrase(noise), single(noise));
    let inner = json!({ "password": secret, "DB_PASSWORD": other }).to_string();
    all.push(Planted { kind: "password", secret: vec![secret, other], text: json!({ "body": inner }).to_string() });
    all
}
