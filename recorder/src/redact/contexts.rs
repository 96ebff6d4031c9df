//! Secrets that statements, commands, headers and formats of files give away by their own grammar.
//!
//! One line of the table per context: words of which one is in every text of the context, a pattern, and how much its value
//! has to look like a secret. The value is the first group that takes part in the match.

use std::ops::Range;
use std::sync::{LazyLock, OnceLock};

use regex::bytes::{Regex, RegexBuilder};

use super::found::{Evidence, Found};
use super::kind::Kind;
use super::literal::{is_call, is_character_class, is_rule, is_secret, stands_in};
use super::names::{API_KEY, PASSWORD, SECRET, TOKEN, sensitive_name, weak_name};
use super::plausible::{Form, is_plausible, is_plausible_password};
use super::random::{distinct, is_generated, is_human, is_memorable, is_worded, words_percent};
use super::search::{Case, Search};

const COOKIE: Kind = Kind::known("cookie");
const CREDENTIALS: Kind = Kind::known("credential");
const URL_PASSWORD: Kind = Kind::known("url-password");
const WEBHOOK: Kind = Kind::known("webhook");
const SIGNATURE: Kind = Kind::known("signature");
const HASH: Kind = Kind::known("password-hash");
const PHRASE: Kind = Kind::known("recovery-phrase");

/// How much the value of a context has to look like a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Look {
    /// Anything but what stands in for a value.
    Any,
    /// Whatever a password assigned in code may be.
    Password,
    /// Random letters and digits.
    Random,
    /// Random, a key, or a password of words.
    Announced,
    /// What can hardly be anything but a key.
    Strong,
    /// What the name in the group `name` asks for.
    Named,
    /// What can hardly be anything but a key, under a name that may be one.
    WeaklyNamed,
}

impl Look {
    /// Says whether a value has to have letters and digits.
    fn needs_candidate(self) -> bool {
        matches!(self, Self::Random | Self::Announced | Self::Strong | Self::WeaklyNamed)
    }
}

#[derive(Debug)]
struct Context {
    kind: Kind,
    /// One of these is in every text of the context, in any case.
    words: &'static [&'static str],
    look: Look,
    pattern: &'static str,
}

const fn context(kind: Kind, words: &'static [&'static str], look: Look, pattern: &'static str) -> Context {
    Context { kind, words, look, pattern }
}

/// A value in quotes of either sort, or up to what ends a word of a shell.
macro_rules! value {
    () => {
        r#"(?:"((?:[^"\\\n]|\\.){3,})"|'((?:[^'\\\n]|'\\''|''|\\[^'\n]|\\.){3,})'|([^\s\x1b"'`\\;|&<>()\[\]]{3,}))"#
    };
}

/// A value in quotes of either sort.
macro_rules! quoted {
    () => {
        r#"(?:"((?:[^"\\\n]|\\.){3,})"|'((?:[^'\\\n]|'\\''|''|\\.){3,})')"#
    };
}

/// A string whose value does not matter.
macro_rules! string {
    () => {
        r#"(?:"[^"\n]*"|'[^'\n]*'|[\w.$>-]+)"#
    };
}

static CONTEXTS: &[Context] = &[
    // Databases.
    context(
        PASSWORD,
        &["identified"],
        Look::Any,
        concat!(
            r"(?i)\bidentified\s{1,9}(?:with\s{1,9}[\w'\x22`]+\s{1,9})?(?:by|as)\s{1,9}(?:password\s{1,9}|values\s{1,9})?",
            value!()
        ),
    ),
    context(
        PASSWORD,
        &["password '", "password = ", "password=", "password e'", "password n'", "password  "],
        Look::Any,
        r"(?i)\bpassword\s{1,9}(?:=\s{0,9})?(?:N|E)?'((?:[^'\n]|''){3,})'",
    ),
    context(
        PASSWORD,
        &["password"],
        Look::Any,
        concat!(
            r"(?i)\b(?:user|role|login|credential|with|set|encrypted|for\s[^=\n]+)\s[^;\n]*?\b(?:password|secret)\s{0,9}=\s{0,9}(?:(?:old_)?password\()?N?",
            quoted!()
        ),
    ),
    context(PASSWORD, &["password("], Look::Any, r"(?i)\b(?:old_)?password\('([^'\n]{3,})'\)"),
    context(
        PASSWORD,
        &["sp_addlogin", "sp_password"],
        Look::Any,
        r"(?i)\bsp_(?:addlogin|password)\s{1,9}N?'[^'\n]*'\s{0,9},\s{0,9}N?'([^'\n]{3,})'",
    ),
    context(PASSWORD, &["mysqladmin"], Look::Any, concat!(r"(?i)\bmysqladmin\b[^\n]*?\spassword\s{1,9}", value!())),
    context(
        PASSWORD,
        &["sqlplus", "oracle:", "expdp", "impdp", "sqlldr", "rman "],
        Look::Any,
        r#"(?i)\b(?:sqlplus|jdbc:oracle:(?:thin|oci)|expdp|impdp|sqlldr|rman(?:\s{1,4}target)?):?\s{0,4}(?:-\w{1,2}\s{1,4}){0,3}[\x22']?[\w.$-]+/\x22?([^\s@/'\x22]{3,})\x22?(?:@|\s|[\x22']|$)"#,
    ),
    context(URL_PASSWORD, &["@tcp(", "@unix(", "@udp("], Look::Any, r#"[\w.-]+:([^\s"'`]+?)@(?:tcp|unix|udp)\("#),
    context(
        PASSWORD,
        &["requirepass", "masterauth"],
        Look::Any,
        concat!(r#"(?i)\b(?:requirepass|masterauth)[\x22']?[ \t:=]{1,9}"#, value!()),
    ),
    context(
        PASSWORD,
        &["auth "],
        Look::Password,
        concat!(r"(?m)^(?:[\w.:@-]*> ?)?(?i:auth)[ ](?:[\w-]+[ ])?", value!(), r"[ \t]*$"),
    ),
    context(
        PASSWORD,
        &[":*:", ":5432:", ":5433:", ":6432:", ":3306:"],
        Look::Any,
        r"(?m)(?:^|[^\w.-])(?:[\w.-]+|\*):(?:\*|[0-9]{4,5}):(?:[A-Za-z_][\w.-]*|\*):(?:[\w.@-]+|\*):((?:[^\s\\]|\\.){3,}?)(?:[\x22']?[ \t]*\r?$|[\x22'])",
    ),
    context(
        PASSWORD,
        &["sqlcmd", "osql", "bcp ", "zip -p", "zip -r", "ipmitool", "mosquitto_", "mongo", "isql"],
        Look::Any,
        concat!(r"\b(?:sqlcmd|osql|bcp|zip|unzip|ipmitool|mosquitto_\w{3,4}|isql)\b[^\n]*?\s-P[ ]?", value!()),
    ),
    context(PASSWORD, &["mongo"], Look::Any, concat!(r"\bmongo\w{0,7}\b[^\n]*?\s-p[ ]?", value!())),
    // Commands.
    context(
        PASSWORD,
        &["curl", "wget", "http ", "https ", " xh "],
        Look::Any,
        r"(?i)\b(?:curl|https?|xh|wget)\b[^\n]*?[ \t](?:-[a-z]{0,6}u|--user|--proxy-user|-U|-a|--auth)[ \t=]{0,4}(?:\x22[^\x22\n:]*:([^\x22\n]{3,})\x22|'[^'\n:]*:([^'\n]{3,})'|[^\s:'\x22]+:([^\s'\x22`]{3,}))",
    ),
    context(
        PASSWORD,
        &["sudo", "-stdin", "passwd", "cryptsetup", "passphrase-fd", "kinit", "--with-token", "secret create", "| su "],
        Look::Any,
        concat!(
            r#"(?i)\b(?:echo|printf)[ \t]{1,4}(?:-[a-z]{1,3}[ \t]{1,4}|--[ \t]{1,4}|['\x22]%s(?:\\+n|\n)?['\x22][ \t]{1,4}){0,3}"#,
            value!(),
            r#"[ \t]{0,4}\|[ \t]{0,4}[^\n|]*?(?:\bsudo\b[^\n|]*[ \t]-[a-zA-Z]{0,4}S|-stdin\b|\bpasswd\b|\bcryptsetup\b|passphrase-fd|\bkinit\b|smbpasswd|--with-token|\bvncpasswd|\bsecret\b|stdin\b|\bsu\b)"#
        ),
    ),
    // What is piped into anything that has a word for a secret in it, and what is written to a file that has.
    context(
        SECRET,
        &["echo ", "printf "],
        Look::Announced,
        concat!(
            r#"(?i)\b(?:echo|printf)[ \t]{1,4}(?:-[a-z]{1,3}[ \t]{1,4}|--[ \t]{1,4}|['\x22]%s(?:\\+n|\n)?['\x22][ \t]{1,4}){0,3}"#,
            value!(),
            r#"[ \t]{0,4}\|[ \t]{0,4}[^\n|;]*?(?:secret|token|passw|credential|login|auth|\bkey\b)"#
        ),
    ),
    context(
        PASSWORD,
        &["echo ", "printf "],
        Look::Announced,
        concat!(
            r#"(?i)\b(?:echo|printf)[ \t]{1,4}(?:-[a-z]{1,3}[ \t]{1,4}|--[ \t]{1,4}|['\x22]%s(?:\\+n|\n)?['\x22][ \t]{1,4}){0,3}"#,
            value!(),
            r#"[ \t]{0,4}(?:>{1,2}|\|[ \t]{0,4}(?:sudo[ \t]{1,4})?tee(?:[ \t]-a)?)[ \t]{0,4}['\x22]?[^\s'\x22;|&]*(?:pass|secret|token|cred|key|auth|\bpw)"#
        ),
    ),
    context(
        PASSWORD,
        &["chpasswd"],
        Look::Any,
        r#"(?i)(?:echo|printf|<<<)[ \t]{0,4}(?:-[a-z]{1,3}[ \t]{1,4})?['\x22]?[\w.-]+:([^\s'\x22\n|]{3,}?)(?:\\n)?['\x22]?[ \t]{0,4}(?:\|[^\n|]*chpasswd|$|\n)"#,
    ),
    context(
        PASSWORD,
        &["<<<"],
        Look::Any,
        concat!(
            r"(?i)(?:\bsudo\b[^\n]*[ \t]-[a-z]{0,4}S|passwd|kinit|-stdin|--with-token|cryptsetup|\bsu\b)[^\n]*?<<<[ \t]{0,4}",
            value!()
        ),
    ),
    context(
        PASSWORD,
        &["send \"", "send '", "send -- ", "send \\", "send(", "sendline"],
        Look::Any,
        r#"(?i)expect\b[^\n]*(?:assword|assphrase)[^\n]*(?:\n[^\n]*?)?send(?:line)?[ (]{1,4}(?:--[ ])?\\*['\x22]([^\x22'\n]{3,}?)(?:\\+[rn])*\\*['\x22]"#,
    ),
    context(PASSWORD, &["sendline"], Look::Password, r#"\.sendline\(\s{0,4}['\x22]([^\x22'\n]{3,}?)['\x22]"#),
    context(
        PASSWORD,
        &["plink", "pscp", "psftp", "putty", "freerdp", "cmdkey", "wmic", "winscp", "psexec"],
        Look::Any,
        concat!(
            r"(?i)\b(?:plink|pscp|psftp|putty|xfreerdp3?|wfreerdp|cmdkey|wmic|winscp|psexec\d{0,2})\b[^\n]*?[ \t](?:-pw[ ]|/p:|/pass(?:word)?[:=]|-p[ ])",
            value!()
        ),
    ),
    context(PASSWORD, &["sshpass"], Look::Any, concat!(r"\bsshpass[ \t]{1,4}-p[ ]?", value!())),
    context(
        PASSWORD,
        &["7z a", "7z x", "rar a", "rar x", "7za a"],
        Look::Any,
        concat!(r"\b(?:7za?r?|rar|unrar)[ \t][^\n]*?[ \t]-h?p", value!()),
    ),
    context(
        PASSWORD,
        &["ldap"],
        Look::Any,
        concat!(
            r"\bldap(?:search|add|modify|delete|passwd|whoami|compare|modrdn)\b[^\n]*?[ \t]-[ws][ \t]{1,4}",
            value!()
        ),
    ),
    context(
        PASSWORD,
        &["smb", "cifs", "rpcclient", "-u "],
        Look::Any,
        r#"[ \t]-U[ \t]{0,4}['\x22]?[\w.\\/-]+%([^\s'\x22`]{3,})"#,
    ),
    context(
        PASSWORD,
        &["htpasswd", "mosquitto_passwd"],
        Look::Any,
        concat!(
            r#"\b(?:htpasswd|mosquitto_passwd)[ \t][^\n]*?-[a-zA-Z]{0,6}b[a-zA-Z]{0,4}[ \t]{1,4}(?:\S*[/.]\S*[ \t]{1,4})?[\w.@-]+[ \t]{1,4}"#,
            value!()
        ),
    ),
    context(
        PASSWORD,
        &["rabbitmqctl", "rabbitmqadmin"],
        Look::Any,
        concat!(
            r"\brabbitmqctl[ \t][^\n]*?(?:add_user|change_password|authenticate_user)[ \t]{1,4}\S+[ \t]{1,4}",
            value!()
        ),
    ),
    context(PASSWORD, &["net u"], Look::Any, concat!(r"(?i)\bnet[ ]user[ ][\w.$-]+[ ]", value!(), r"(?:[ ]/|\s|$)")),
    context(
        PASSWORD,
        &["net u"],
        Look::Any,
        r#"(?i)\bnet[ ]use[ ][^\n]+?/user:\S+[ ]{1,4}(?:"([^"\n]{3,})"|'([^'\n]{3,})'|([^\s"'`|&;<>/*][^\s"'`|&;<>]{2,}))"#,
    ),
    // The password may stand before the user, and nothing but a path before it.
    context(
        PASSWORD,
        &["net u"],
        Look::Any,
        r#"(?i)\bnet[ ]use[ ](?:[A-Z*]:?[ ]{1,4})?["']?\\{1,8}[^\s"']+["']?[ ]{1,4}(?:"([^"\n]{3,})"|([^\s"'`|&;<>/*][^\s"'`|&;<>]{2,}))[ ]{1,4}/user:"#,
    ),
    context(
        PASSWORD,
        &["lftp", "snmp"],
        Look::Any,
        r#"\b(?:lftp[^\n]*?-u[ ]?[\w.@-]+,|snmp\w{2,10}\b[^\n]*?[ ]-[cAX][ ])['\x22]?([^\s'\x22`]{3,})"#,
    ),
    context(
        PASSWORD,
        &["securestring"],
        Look::Any,
        concat!(r"(?i)ConvertTo-SecureString[ \t]{1,4}(?:-String[ \t]{1,4})?", quoted!()),
    ),
    context(
        PASSWORD,
        &["user_pw", "owner_pw", "psk"],
        Look::Any,
        concat!(
            r#"(?i)\b(?:user_pw|owner_pw|wpa-psk|wifi-sec\.psk|802-11-wireless-security\.psk)[ \t=]{1,4}"#,
            value!()
        ),
    ),
    context(PASSWORD, &["nmcli"], Look::Any, concat!(r"\bnmcli[ ][^\n]*?[ ]password[ ]", value!())),
    context(
        API_KEY,
        &["configure set"],
        Look::Any,
        concat!(
            r"(?i)\bconfigure[ \t]{1,4}set[ \t]{1,4}(?:[\w.-]*)(?:secret_access_key|session_token|access_key_secret)[ \t]{1,4}",
            value!()
        ),
    ),
    context(
        SECRET,
        &["set ", "setenv", "setx", "put ", "secret ", "config ", "env ", "_param ", "add ", "[environment]"],
        Look::Named,
        concat!(
            r"(?im)(?:^|[^\w.-]|\s--?)(?:set|set-secret|setenv|setx|put|put-value|config|add|create|ENV|ARG|secrets?|variables?|fastcgi_param|uwsgi_param|--name|-n)[ \t]{1,4}(?:(?:-{1,2}[\w-]{1,20}|--global|-gx|secret|key|kv)[ \t]{1,4}){0,3}(?P<name>[A-Za-z_][\w./:-]{2,})[ \t]{1,4}(?:(?:--value|--body|--data|--secret-string|-v|-b)[ =])?",
            value!()
        ),
    ),
    context(
        SECRET,
        &["--value", "--secret-string", "--body", "-value"],
        Look::Named,
        concat!(
            r"(?:--name|--secret-id|--secret-name|-n|secret[ ]set)[ =]\x22?(?P<name>[\w./-]{2,})\x22?[^\n]*?(?:--value|--secret-string|--body|--secret-value)[ =]",
            value!()
        ),
    ),
    context(
        SECRET,
        &["parametervalue"],
        Look::Named,
        concat!(
            r#"(?i)ParameterKey=['\x22]?(?P<name>[\w.-]{2,})['\x22]?,\s{0,4}(?:UsePreviousValue=\w{2,8},)?ParameterValue="#,
            value!()
        ),
    ),
    context(
        SECRET,
        &["vault"],
        Look::Any,
        concat!(
            r"\bvault[ \t]{1,4}(?:operator[ \t]{1,4}unseal|login)[ \t]{1,4}(?:token=)?",
            r"([A-Za-z0-9+/=._-]{20,})"
        ),
    ),
    // Dialogues of servers that ask in base64, and what is set with two algorithms.
    context(
        PASSWORD,
        &["334 ugfzc3dvcmq6", "334 cgfzc3dvcmq6"],
        Look::Any,
        r"(?i)334[ ](?:UGFzc3dvcmQ6|cGFzc3dvcmQ6)[^\n]*\n[^\n]*?\b([A-Za-z0-9+/]{4,}={0,2})[ \t]*\r?(?:\n|$)",
    ),
    context(
        PASSWORD,
        &[" md5 ", " sha ", " sha-", " sha2", " sha5", " aes ", " aes-", " des "],
        Look::Announced,
        r#"(?i)[ ](?:MD5|SHA(?:-?[0-9]{3})?|3?DES|AES(?:[- ]?[0-9]{3})?)[ ][\x22']?([^\s'\x22]{8,})[\x22']?(?:[ ](?:priv|auth|aes|des|md5|sha|3des)|[ \t]*\r?(?:\n|$))"#,
    ),
    context(SECRET, &[" reg_"], Look::Named, r"(?i)\b(?P<name>[\w.-]{2,})[ \t]{1,20}REG_\w{2,10}[ \t]{1,20}(\S{3,})"),
    context(
        PASSWORD,
        &["password ", "passphrase ", "passwd ", "passcode ", "secret "],
        Look::Password,
        r#"(?i)\b(?:password|passphrase|passwd|passcode|secret)[ \t]{1,20}(?:\x22([^\x22\s]{6,})\x22|'([^'\s]{6,})'|`([^`\s]{6,})`)"#,
    ),
    // Keys and codes that are announced.
    context(
        SECRET,
        &["unseal key", "recovery key", "key share"],
        Look::Any,
        r#"(?i)(?:unseal|recovery)[ ]key(?:[ ]share)?(?:[ ][0-9]{1,2})?(?:[ ]\([^)\n]{1,20}\))?\s{0,4}[:=]\s{0,4}['\x22]?([A-Za-z0-9+/]{20,}={0,2})"#,
    ),
    context(TOKEN, &["root token"], Look::Any, r#"(?i)root[ ]token\s{0,4}[:=]\s{0,4}['\x22]?([A-Za-z0-9._-]{16,})"#),
    context(SECRET, &["wg "], Look::Any, r"\bwg[ ](?:genkey|genpsk)\b[^\n]*\n[ \t]*([A-Za-z0-9+/]{43}=)"),
    context(SECRET, &["wg"], Look::Any, r"(?m)^(?:wg|tun|utun)[\w-]{0,12}\t([A-Za-z0-9+/]{43}=)\t[A-Za-z0-9+/]{43}="),
    context(
        PHRASE,
        &["mnemonic", "phrase", "seed words"],
        Look::Any,
        r#"(?i)(?:mnemonic|(?:seed|recovery|secret|backup)[ _-]?(?:phrase|words))['\x22]?[ \t]{0,4}(?:is)?[:=]?\s{0,4}['\x22]?((?:[a-z]{3,8}[ ,]{1,2}){11,23}[a-z]{3,8})\b"#,
    ),
    context(
        PASSWORD,
        &["password", "passphrase", "passwd", "passcode", "pwd", "kennwort", "passwort", "pin ", "credential"],
        Look::Random,
        r#"(?i)\b(?:password|passphrase|passwd|passcode|pwd|kennwort|passwort|credentials?|pin)\b['\x22]?(?:[^\n=.,;:'\x22]*?\b(?:is|was|to|with|as|ist)\b[ ]?:?|(?:[ ](?:for|of)[ ][^\n=,;'\x22:]+?|[ ]\([^)\n]+\)){0,2}[ ]?(?:=|:|→|->|=>))[ \t]{0,4}\n{0,2}[ \t]{0,4}['\x22`*]{0,3}([^\s'\x22`<>]{8,})"#,
    ),
    context(
        TOKEN,
        &["token", "secret", "key"],
        Look::Random,
        r#"(?i)\b(?:(?:api|access|secret|auth|bearer|session|refresh|deploy|bot|license|signing|private)[ ](?:token|key|secret)|secret|token)\b[ ][^\n=.,;:'\x22]*?\b(?:is|was|to|set[ ]to)\b[ ]?:?[ \t]{0,4}['\x22`*]{0,3}([^\s'\x22`<>,;]{16,})"#,
    ),
    context(
        PASSWORD,
        &[
            "пароль",
            "密码",
            "密碼",
            "パスワード",
            "비밀번호",
            "contraseña",
            "senha",
            "mot de passe",
            "hasło",
            "wachtwoord",
            "kennwort",
            "passwort",
            "lösenord",
        ],
        Look::Password,
        r#"(?iu)(?:пароль|密码|密碼|パスワード|비밀번호|contraseña|senha|mot de passe|hasło|wachtwoord|kennwort|passwort|lösenord)['\x22]?\s{0,4}[:=：＝]\s{0,4}['\x22]?([^\s'\x22`]{6,})"#,
    ),
    context(
        PASSWORD,
        &["password", "passphrase", "passwd", "passcode", "credential", "secret", "token"],
        Look::Announced,
        r#"(?im)\b(?:password|passphrase|passwd|passcode|credentials?|secret|token)\b[^\n:=]*:[ \t]{1,4}['\x22`*]{0,3}(\S{8,}?)['\x22`*]{0,3}[ \t]*\r?$"#,
    ),
    context(
        PASSWORD,
        &["credential", "login", "creds", "account", "username", "user:"],
        Look::Announced,
        r#"(?im)\b(?:credentials?|login|creds|account|username|user)\b[^\n:]*:[ \t]{1,3}['\x22`]?[\w.@+-]+['\x22`]?(?:[ ]?[/|][ ]?|,[ ]|:[ ]?)(?:(?:password|pass|pw)[ ]?[:=][ ]?)?['\x22`]?(\S{8,}?)['\x22`]?[ \t]*\r?$"#,
    ),
    context(PASSWORD, &["wifi:"], Look::Any, r"WIFI:(?:[^;\n]*;){0,6}?P:((?:[^;\\\n]|\\.){3,});"),
    context(
        PASSWORD,
        &[" login "],
        Look::Announced,
        r#"(?m)^(?:[CS>]:?[ ])?[\w.]{1,20}[ ](?i:login)[ ]\S+[ ](?:\x22((?:[^\x22\\\n]|\\.){3,})\x22|(\S{3,}))[ \t]*\r?$"#,
    ),
    context(
        PASSWORD,
        &["pass "],
        Look::Any,
        r"(?m)^(?:(?:[CS>]|-{2,3}>|>>>):?[ ])?(?:[0-9:. ]{0,20})PASS[ ](\S{3,})[ \t]*\r?$",
    ),
    context(
        PASSWORD,
        &["auth plain", "auth login"],
        Look::Any,
        r"\bAUTH[ ](?:PLAIN|LOGIN)[ ]([A-Za-z0-9+/]{8,}={0,2})",
    ),
    context(
        PASSWORD,
        &["identify "],
        Look::Announced,
        r"(?i)\b(?:nickserv[ ]:?)?identify[ ](?:[\w|-]+[ ])?(\S{6,})[ \t]*\r?(?:\n|$)",
    ),
    context(
        SECRET,
        &["=>"],
        Look::Named,
        r#"\[\x22?(?P<name>[\w.-]{2,})\x22?(?::\x22?[\w\\]+\x22?)?(?::\w{1,20})?\][ ]?=>\s{1,20}string\([0-9]{1,6}\)\s{1,4}\x22([^\x22\n]{3,})\x22"#,
    ),
    context(
        SECRET,
        &["private-key", "preshared-key", "key-file", "password-file"],
        Look::Strong,
        r#"(?i)\b(?:private-key|preshared-key|key-file|password-file)[ =]<\([ ]?(?:echo|printf|cat[ ]<<<)[ ](?:-n[ ])?['\x22]?([^\s'\x22)]{8,})"#,
    ),
    context(
        SECRET,
        &["keys_base64", "keys_b64", "keys_hex"],
        Look::Any,
        r#"\x22([0-9a-f]{64,}|[A-Za-z0-9+/]{43,}={0,2})\x22"#,
    ),
    context(
        API_KEY,
        &["fernet(", "aesgcm(", "secretbox(", "hmac.new(", "signingkey(", "chacha20poly1305("],
        Look::Strong,
        concat!(
            r"(?i)\b(?:Fernet|AESGCM|SecretBox|hmac\.new|SigningKey|ChaCha20Poly1305)\(\s{0,4}[bru]{0,2}",
            quoted!()
        ),
    ),
    // Settings of servers and devices that have a grammar of their own.
    context(
        PASSWORD,
        &["setuser ", "user "],
        Look::Announced,
        r"(?i)\b(?:acl setuser|user)[ ]\S+[ ](?:\S+[ ]){0,6}?>(\S{3,})",
    ),
    context(PASSWORD, &["\" \""], Look::Announced, r#"(?m)^\x22[\w.@-]+\x22[ \t]\x22(\S{6,})\x22[ \t]*\r?$"#),
    context(
        PASSWORD,
        &["\" *", "l2tpd", "pptpd", "pppd", "chap", "pap-secrets"],
        Look::Announced,
        r#"(?m)^\x22?[\w.*@\\-]+\x22?[ \t]{1,20}[\w.*-]+[ \t]{1,20}\x22?(\S{6,}?)\x22?[ \t]{1,20}(?:\*|[0-9.]{7,15})[ \t]*\r?$"#,
    ),
    context(
        PASSWORD,
        &["auth-user-pass"],
        Look::Announced,
        r"(?i)auth-user-pass>?[ \t]*\r?\n[ \t]*\S+\r?\n[ \t]*(\S{6,})[ \t]*(?:\r?\n|$)",
    ),
    context(
        PASSWORD,
        &["tacacs", "radius"],
        Look::Announced,
        r"(?im)^[ \t]*(?:tacacs|radius)(?:-server|[ ]server)?\b[^\n]*\bkey[ ](?:[0-9][ ])?(\S{6,})[ \t]*\r?$",
    ),
    context(PASSWORD, &["sonar."], Look::Strong, r"\bsonar\.(?:login|token|password)[ ]?=[ ]?([0-9A-Za-z_]{20,})"),
    context(
        PASSWORD,
        &["]:", ".com ", ".org ", ".net ", ".corp ", ".local ", ".io ", ".internal "],
        Look::Announced,
        r"(?m)^\[?[\w.-]{3,}\]?(?::[0-9]{2,5})?[ \t]{1,10}[\w.+-]+(?:@[\w.-]{3,})?:(\S{6,})[ \t]*\r?$",
    ),
    context(PASSWORD, &["chpasswd"], Look::Any, r"(?i)chpasswd[^\n]*<<[^\n]+\n(?:[^\n:]*\n){0,3}?[\w.-]+:(\S{3,})"),
    context(
        PASSWORD,
        &[" /v "],
        Look::Named,
        r"(?i)\breg(?:\.exe)?[ ]add[ ][^\n]+?/v[ ]\x22?(?P<name>[\w -]{2,}?)\x22?[ ][^\n]*?/d[ ]\x22?([^\s\x22]{3,})",
    ),
    context(
        PASSWORD,
        &["auth ", "login=", "user=", "users=", "userpwd", "basicauth", "creds", "basic_auth", "credentials"],
        Look::Announced,
        r#"(?i)(?:\b|_)(?:auth|login|users?|userpwd|basicauth|basic_auth|creds?|credentials?|auth_basic|http_auth|proxy_auth)['\x22]?(?:[ ]?[=:,(]{1,2}[ ]?|[ ](?:admin[ ])?)['\x22]?[\w.@-]+:([^\s'\x22`]{8,})"#,
    ),
    context(
        PASSWORD,
        &[": psk ", ": xauth ", ": eap ", ": ntlm ", ": pin "],
        Look::Announced,
        r#":[ ](?:PSK|XAUTH|EAP|NTLM|PIN)[ ]\x22([^\x22\n]{6,})\x22"#,
    ),
    context(PASSWORD, &["connectinfo"], Look::Announced, r"(?i)\bSQL\w*ConnectInfo[ ]\S+[ ]\S+[ ](\S{3,})"),
    context(SECRET, &["hmac-"], Look::Strong, r"(?i)\bhmac-(?:md5|sha[0-9]{1,3}):[\w.-]+:([A-Za-z0-9+/]{16,}={0,2})"),
    context(
        PASSWORD,
        &["key content", "secret id", "password elastic", "security key", "network key", "recovery code"],
        Look::Announced,
        r"(?im)\b(?:key content|secret id|password \w+|security key|network key|recovery code)[ \t]*[:=][ \t]{0,4}(\S{6,})[ \t]*\r?$",
    ),
    context(
        SECRET,
        &["variable \"", "variable '"],
        Look::Named,
        r#"\bvariable[ ]\x22(?P<name>[\w-]{2,})\x22[ ]?\{[^{}]*?\bdefault[ ]{0,20}=[ ]{0,4}\x22([^\x22\n]{3,})\x22"#,
    ),
    context(
        PASSWORD,
        &["password", "passwort", "passphrase", "token", "secret", "credential"],
        Look::Announced,
        r"(?i)\b(?:password|passwort|passphrase|token|secret|credentials?)\b[^\n]*:[ \t]*\r?\n(?:[ \t]*\r?\n)?[ \t]*['\x22`]?(\S{8,}?)['\x22`]?[ \t]*(?:\r?\n|$)",
    ),
    context(
        PASSWORD,
        &["password", "passphrase", "passcode", "token", "secret", "credential"],
        Look::Announced,
        r"(?i)\b(?:password|passphrase|passcode|token|secret|credentials?)\b[^\n]*\n[ \t]*(?:\r?\n[ \t]*)?(?:the |your )?(?:(?:new|generated|temporary|initial|current)[ ])?(?:value|password|key|secret|token|credential|pass|passphrase)(?:[ ]is)?[ ]?:[ \t]{0,8}['\x22`]?(\S{8,}?)['\x22`]?[ \t]*(?:\r?\n|$)",
    ),
    context(
        PASSWORD,
        &["password", "passphrase", "passcode", "pwd"],
        Look::Announced,
        r#"(?i)\b(?:password|passphrase|passcode|pwd)\b[^\n]*?[ ](?:is|was|to|with|as|ist|now|=|:)[ ]['\x22`*]{0,3}([^\s'\x22`]{8,})"#,
    ),
    context(PASSWORD, &["` / `", "`/`", "` : `", "`, `"], Look::Announced, r"`[\w.@+-]+`[ ]?[/:,][ ]?`([^\s`]{8,})`"),
    context(
        PASSWORD,
        &["type=\"password\"", "type='password'", "type=password"],
        Look::Announced,
        r#"(?i)type=['\x22]?password['\x22]?[^<>]*?\bvalue=['\x22]([^'\x22<>\n]{6,})['\x22]"#,
    ),
    context(
        SECRET,
        &["accounts"],
        Look::Any,
        r#"\baccounts['\x22]?[ ]?[:=][ ]?\[[^\]]*?['\x22](?:0x)?([0-9a-fA-F]{64})['\x22]"#,
    ),
    context(
        SECRET,
        &["key = ", "key: ", "key=\""],
        Look::Strong,
        r#"(?m)^[ \t]*key[ ]?[=:][ ]?['\x22]?([A-Za-z0-9+/]{38,}={1,2})['\x22]?[ \t]*\r?$"#,
    ),
    context(
        SECRET,
        &["'key' =>", "\"key\":", "'key':"],
        Look::Strong,
        r#"(?i)['\x22](?:crypt|jwt|encryption|signing|cipher|hmac|session|cookie|app|security)['\x22][ ]?(?:=>|:)[ ]?[\[{]\s*(?:['\x22]\w+['\x22][ ]?(?:=>|:)[^\[{]*?,\s*){0,4}?['\x22]key['\x22][ ]?(?:=>|:)[ ]?['\x22]([^'\x22\n]{16,})"#,
    ),
    context(
        API_KEY,
        &["akia", "asia"],
        Look::Strong,
        r#"\b(?:AKIA|ASIA)[A-Z0-9]{16}['\x22]?[\s:,;|]{1,4}['\x22]?([A-Za-z0-9/+]{40})\b"#,
    ),
    context(SECRET, &["<<<"], Look::Announced, r#"<<<[ \t]*['\x22]?([^\s'\x22`]{8,})"#),
    context(
        SECRET,
        &["encrypt"],
        Look::Strong,
        r#"(?i)\b(?:encrypt|encryption_key|gossip_key)['\x22]?[ ]{0,20}[=:][ ]?['\x22]([A-Za-z0-9+/]{22}==|[A-Za-z0-9+/]{43}=)['\x22]"#,
    ),
    context(SECRET, &[") 0x"], Look::Strong, r"\([0-9]{1,3}\)[ ]0x([0-9a-fA-F]{64})\b"),
    context(
        TOKEN,
        &["samlresponse=", "samlrequest=", "samlart="],
        Look::Any,
        r"(?i)\bSAML(?:Response|Request|art)=([A-Za-z0-9+/%=_-]{40,})",
    ),
    context(
        TOKEN,
        &["negotiate ", "ntlm ", "kerberos "],
        Look::Any,
        r"(?i)\b(?:Negotiate|NTLM|Kerberos)[ ]([A-Za-z0-9+/]{40,}={0,2})",
    ),
    context(
        URL_PASSWORD,
        &["trojan://", "vless://", "ss://", "hysteria", "tuic://", "vmess://"],
        Look::Any,
        r"\b(?:trojan|vless|ss|hysteria2?|hy2|tuic|vmess)://([^@\s/'\x22]{8,})",
    ),
    context(PASSWORD, &["com2sec"], Look::Announced, r"\bcom2sec6?[ \t]{1,9}\S+[ \t]{1,9}\S+[ \t]{1,9}(\S{3,})"),
    context(
        PASSWORD,
        &["stdin", "login", "passwd", "secret", "sudo"],
        Look::Announced,
        r"(?i)<<-?[ ]?['\x22]?\w+['\x22]?[^\n]*(?:stdin|login|passwd|sudo[^\n]*-S|secret)[^\n]*\n[ \t]*(\S{6,400})[ \t]*\r?\n",
    ),
    context(
        PASSWORD,
        &["pragma key", "pragma rekey", "pragma hexkey"],
        Look::Any,
        r#"(?i)\bPRAGMA[ ](?:re|hex)?key[ ]?=[ ]?['\x22]([^'\x22\n]{3,})['\x22]"#,
    ),
    context(
        PASSWORD,
        &[" using "],
        Look::Announced,
        r"(?i)\bconnect[ ]to[ ]\S+[ ]user[ ]\S+[ ]using[ ]['\x22]?([^\s'\x22;]{3,})",
    ),
    context(PASSWORD, &["logon "], Look::Announced, r"(?i)\.?\blogon[ ](?:\S+/)?[\w.@-]+,([^\s;]{3,})"),
    context(
        PASSWORD,
        &["connect ", "conn "],
        Look::Announced,
        r"(?im)^(?:SQL>[ ]?)?conn(?:ect)?[ ][\w$]+/(\S{3,}?)(?:@\S+)?[ ]*;?[ ]*\r?$",
    ),
    context(PASSWORD, &["user "], Look::Announced, r"(?im)^(?:ftp>[ ]?)?user[ ]\S{1,60}[ ](\S{6,200})[ \t]*\r?$"),
    // Formats that write how long a string is, and replies of servers in numbered lines.
    context(
        SECRET,
        &["\";s:"],
        Look::Named,
        r#"\bs:[0-9]{1,4}:\\*"(?:[^"\n]{0,60}?[^\w"\n.-])?(?P<name>[\w.-]{2,})\\*";s:[0-9]{1,6}:\\*"([^\n]{3,}?)\\*";"#,
    ),
    context(SECRET, &["|s:"], Look::Named, r#"(?:^|[^\w.-])(?P<name>[\w.-]{2,})\|s:[0-9]{1,6}:\\*"([^\n]{3,}?)\\*";"#),
    context(
        SECRET,
        &["\r\n$", "\n$", "\\r\\n$"],
        Look::Named,
        r"\$[0-9]{1,6}(?:\\r\\n|\r?\n)(?P<name>[\w.-]{2,})(?:\\r\\n|\r?\n)\$[0-9]{1,6}(?:\\r\\n|\r?\n)([^\r\n\\]{3,})",
    ),
    context(
        SECRET,
        &[") \""],
        Look::Named,
        r#"\b[0-9]{1,4}\)[ ]"(?P<name>[\w.-]{2,})"\s{1,40}(?:[0-9]{1,4}\)[ ]){1,3}"((?:[^"\\\n]|\\.){3,})""#,
    ),
    context(
        SECRET,
        &["hset", "hmset", "config\" \"set"],
        Look::Named,
        r#"(?i)\b(?:hm?set|hsetnx)['\x22]?[ ]{1,4}\S+[ ]{1,4}(?:\S+[ ]{1,4}\S+[ ]{1,4}){0,6}?['\x22]?(?P<name>[\w.-]{2,})['\x22]?[ ]{1,4}['\x22]?([^\s'\x22]{3,})"#,
    ),
    context(
        SECRET,
        &["'\np", "'\ns"],
        Look::Named,
        r"(?m)^[SVsaut(dp0-9]{0,6}[SV]'?(?P<name>[\w.-]{2,})'?\n(?:p[0-9]{1,4}\n)?[SV]'?([^'\n]{3,})'?$",
    ),
    // What a tag says to be no hash.
    context(
        PASSWORD,
        &["{plain", "{clear", "{noop"],
        Look::Announced,
        r#"(?i)\{(?:plain|clear|cleartext|clear-text|plaintext|noop)(?:\.[a-z0-9]{1,8})?\}([^\s:'\x22`]{6,})"#,
    ),
    // Resources whose type tells that they are secrets.
    context(
        PASSWORD,
        &["random_password"],
        Look::Announced,
        r#"\bresource[ ]\\*"random_password\\*"[^{}]{0,80}\{[^{}]*?\bresult[ ]{0,20}=[ ]{0,4}\\*"([^"\\\n]{6,})"#,
    ),
    context(
        PASSWORD,
        &["bundle_"],
        Look::Announced,
        r#"\bBUNDLE_[A-Z0-9_]{2,80}['\x22]?(?:=|:[ ]?)['\x22]?[\w.@+-]{2,40}:([^\s'\x22`@/]{8,})"#,
    ),
    context(
        PHRASE,
        &["mnemonic", "phrase", "seed words"],
        Look::Any,
        r"(?i)(?:mnemonic|(?:seed|recovery|secret|backup)[ _-]?(?:phrase|words))[^\n]*\n(?:[^\n]*\n){0,4}?[ \t>|]*((?-i:[a-z]{3,8}[ ]{1,2}){11,23}(?-i:[a-z]{3,8}))[ \t|]*\r?(?:\n|$)",
    ),
    context(
        PHRASE,
        &["mnemonic", "phrase", "seed words"],
        Look::Any,
        r"(?i)(?:mnemonic|(?:seed|recovery|secret|backup)[ _-]?(?:phrase|words))[^\n]*\n(?:[^\n]*\n){0,4}?[ \t>|]*((?:[0-9]{1,2}[.):][ ]{0,2}[a-z]{3,8}[\s,|]{1,8}){11,23}[0-9]{1,2}[.):][ ]{0,2}[a-z]{3,8})\b",
    ),
    // A question, and the line of another who answers.
    context(
        PASSWORD,
        &["password", "passphrase", "passcode", "token", "secret", "key", "credential"],
        Look::Announced,
        r#"(?i)\b(?:password|passphrase|passcode|token|secret|(?:api|access|secret|private|license)[ _-]?key|credentials?)\b[^\n?]*\?[^\n\w]*\n[ \t]*\r?\n?[ \t>*\x22']{0,6}(?:[\w .@-]{1,30}[:>][*]{0,2}[ ]{1,4})?(?:(?:sure|yes|ok|okay|here|it'?s|it is|use)[,:.]?[ ]){0,2}['\x22`*]{0,3}([^\s'\x22`]{8,})['\x22`*.]{0,3}[ \t]*\r?(?:\n|$)"#,
    ),
    context(
        PASSWORD,
        &["password", "passphrase", "passcode", "token", "secret", "api key", "credential", " pwd", " pw "],
        Look::Announced,
        r#"(?im)^(?:\[[^\]\n]{3,25}\][ ]?|[0-9:]{4,8}[ ])?(?:<[\w.-]{1,30}>|[\w.-]{1,30}:)[ ][^\n]*\b(?:password|passphrase|passcode|token|secret|api key|credentials?|pwd|pw)\b[^\n]*\n(?:\[[^\]\n]{3,25}\][ ]?|[0-9:]{4,8}[ ])?(?:<[\w.-]{1,30}>[ ]|[\w-]{1,30}:[ ](?:(?:sure|yes|ok|okay|here|it'?s|it is|use)[,:.]?[ ]){1,2})['\x22`*]{0,3}([^\s'\x22`]{8,})['\x22`*]{0,3}[ \t]*\r?(?:\n|$)"#,
    ),
    context(
        PASSWORD,
        &["password", "passphrase", "passcode", "token", "secret", "api key", "credential", " pwd", " pw "],
        Look::Announced,
        r#"(?im)^(?:\[[^\]\n]{3,25}\][ ]?|[0-9:]{4,8}[ ])?[\w.-]{1,30}:[ ](?:[^\n]*\b(?:what|send|give|share|tell|paste|please|pls|plz|need)\b)[^\n]*\b(?:password|passphrase|passcode|token|secret|api key|credentials?|pwd|pw)\b[^\n]*\n(?:\[[^\]\n]{3,25}\][ ]?|[0-9:]{4,8}[ ])?[\w.-]{1,30}:[ ]['\x22`*]{0,3}([^\s'\x22`]{8,})['\x22`*]{0,3}[ \t]*\r?(?:\n|$)"#,
    ),
    // Headers and cookies.
    context(
        TOKEN,
        &["authorization"],
        Look::Random,
        r#"(?i)\b(?:proxy-)?authorization['\x22]?\s{0,4}[:=,]\s{0,4}['\x22]?(?:[a-z][\w-]+[ ]{1,2})?(?:(?:token|key|apikey|credential|oauth_token|response|oauth_signature)[ ]?=[ ]?['\x22]?)?([a-z0-9+/._~:=-]{12,})"#,
    ),
    context(
        TOKEN,
        &["-h", "header"],
        Look::Named,
        r#"(?i)(?:-H|--header|header|add_header|proxy_set_header|setRequestHeader|RequestHeader[ ]set)[ \t=(]{0,4}['\x22]?(?P<name>[\w-]{2,})['\x22]?[ \t]{0,4}[:, ][ \t]{0,4}['\x22]?([^\s'\x22`]{6,})"#,
    ),
    context(
        COOKIE,
        &["\ttrue\t", "\tfalse\t", " true ", " false ", "ttrue\\", "tfalse\\", "httponly_"],
        Look::Random,
        r"(?m)(?:^|[\s\x22'])(?:#HttpOnly_)?\.?[\w.-]{3,}[\t ]+(?:TRUE|FALSE)[\t ]+/\S*[\t ]+(?:TRUE|FALSE)[\t ]+[0-9]{1,20}[\t ]+\S+[\t ]+([^\s;\x22']{8,})(?:\s|[\x22']|$)",
    ),
    context(
        COOKIE,
        &["curl", "--cookie", "setcookie", "document.cookie", "add_cookie"],
        Look::Random,
        r#"(?i)(?:[ ]-b|--cookie|document\.cookie|setcookie)[ \t=(]{1,4}['\x22]?[\w.%-]+(?:=|['\x22],[ ]{0,2}['\x22])([^\s;'\x22`]{8,})"#,
    ),
    context(
        COOKIE,
        &["phpsessid", "jsessionid", "sessionid", "connect.sid", "_session", "sessid", "auth_cookie", "remember_"],
        Look::Random,
        r#"(?i)\b(?:phpsessid|jsessionid|asp\.net_sessionid|sessionid|connect\.sid|sessid|[\w-]*_session|remember_\w{2,20}|auth_cookie|\.aspxauth)['\x22]?[ ]?(?:=|:)[ ]?['\x22]?([^\s;'\x22`&,<>)]{16,})"#,
    ),
    context(
        PASSWORD,
        &["form-data"],
        Look::Named,
        r#"(?i)form-data;\s{0,4}name=\x22?(?P<name>[^\x22\n;]+)\x22?[^\n]*\n(?:[A-Za-z-]{3,}:[^\n]*\n){0,4}[ \t]*\n[ \t]*([^\n]{3,}?)[ \t]*(?:\n|$)"#,
    ),
    context(
        PASSWORD,
        &["-f "],
        Look::Named,
        r#"\s(?:-F|--form|--form-string|-d|--data(?:-raw|-urlencode|-binary)?)[ =]?['\x22]?(?:[^\s'\x22&]+&){0,8}(?P<name>[\w.\[\]-]{2,})=([^&'\x22`\s]{3,})"#,
    ),
    // Calls of code.
    context(
        PASSWORD,
        &[
            "basic_auth",
            "basicauth",
            "httpdigest",
            "auth=(",
            "auth(",
            "auth = (",
            "credentials(",
            "credential(",
            "passwordauthentication(",
            ".login(",
        ],
        Look::Password,
        concat!(
            r"(?i)\b(?:\w{0,20}basic_?auth|HTTPDigestAuth|HTTPProxyAuth|auth|\w{0,12}credentials?|PasswordAuthentication|\.login)['\x22]?\s{0,4}[=:]?\s{0,4}[(\[]\s{0,4}",
            string!(),
            r"\s{0,4},\s{0,4}",
            quoted!(),
            r"\s{0,4}[,)\]]"
        ),
    ),
    context(
        PASSWORD,
        &["pdo(", "mysql", ">connect(", "getconnection", "plainauth", "pg_connect", "oci_connect", "mssql_connect"],
        Look::Password,
        concat!(
            r"(?i)\b(?:PDO|mysqli|mysqli?_p?connect|\w{0,20}getConnection|PlainAuth|DBI->connect|oci_connect|mssql_connect|real_connect)\s{0,4}\(\s{0,4}",
            string!(),
            r"\s{0,4},\s{0,4}",
            string!(),
            r"\s{0,4},\s{0,4}",
            quoted!()
        ),
    ),
    context(
        API_KEY,
        &["client('", "client(\"", "client(token", "client(api"],
        Look::Random,
        concat!(
            r"(?:\b\w+\.)?(?:[A-Z]\w*Client|Client|OpenAI|Anthropic|Stripe|Twilio|Octokit|Github)\(\s{0,4}(?:",
            string!(),
            r"\s{0,4},\s{0,4}){0,2}",
            quoted!(),
            r"\s{0,4}[,)]"
        ),
    ),
    context(PASSWORD, &["login -"], Look::Any, concat!(r"\b(?:login|bw[ ]login)\b[^\n]*?[ \t]-p[ ]", value!())),
    context(
        PASSWORD,
        &["snmp-server", "rocommunity", "rwcommunity"],
        Look::Any,
        r"(?i)\b(?:snmp-server[ ]community|r[ow]community6?)[ ]([^\s]{3,})",
    ),
    context(PASSWORD, &["userpassword:"], Look::Any, r"(?i)\buserPassword::?[ ]([^\s]{6,})"),
    context(
        PASSWORD,
        &["password ", "passphrase ", "passwd ", "pwd "],
        Look::Random,
        r#"(?i)\b(?:password|passphrase|passwd|pwd)[ ]{1,4}[\x22'`]?([^\s\x22'`<>]{8,})"#,
    ),
    context(
        TOKEN,
        &["private key", "secret key", "api key", "access key", "api token", "access token", "auth token"],
        Look::Random,
        r#"(?i)\b(?:private|secret|api|access|auth)[ ](?:key|token)[\x22']?[ ]{0,4}[:=][ ]{0,4}[\x22'`]?([^\s\x22'`<>,;]{16,})"#,
    ),
    // Devices.
    context(
        HASH,
        &[
            "password 7",
            "secret 5",
            "secret 8",
            "secret 9",
            "key 7",
            "secret 0",
            "password 0",
            "password 5",
            "secret 4",
        ],
        Look::Any,
        r"(?m)^[ \t]*(?:enable|username[ ]\S+|tacacs-server|radius-server|snmp-server)?[^\n]*\b(?:secret|password|key)[ ](?:[04-9][ ])([^\s]{4,})[ \t]*\r?$",
    ),
    context(HASH, &["'*", "\"*", " *"], Look::Any, r"(?i)(?:identified|password|hash)[^\n]*?(\*[0-9A-F]{40})\b"),
    context(HASH, &[":::"], Look::Any, r"(?i)\b[\w.$-]+:[0-9]{3,10}:([0-9a-f]{32}:[0-9a-f]{32}):::"),
    context(HASH, &["'md5", " md5", "\"md5"], Look::Any, r"(?i)\bpassword\s{1,4}'?(md5[0-9a-f]{32})\b"),
    // Headers of services, and what is signed in an address.
    context(
        TOKEN,
        &[
            "-key:",
            "-api:",
            "-session:",
            "-auth:",
            "-secret:",
            "-ticket:",
            "-sid:",
            "-hmac:",
            "-key\"",
            "-api\"",
            "-session\"",
            "-auth\"",
            "-key'",
            "-session'",
            "-api'",
        ],
        Look::WeaklyNamed,
        r#"(?i)\b(?P<name>(?:[a-z0-9]+-){1,6}(?:key|api|session|auth|secret|ticket|sid|hmac))['\x22]?[ ]?[:,=][ ]?['\x22]?([^\s'\x22`,;]{16,})"#,
    ),
    context(
        SIGNATURE,
        &["sig=", "signature=", "hmac=", "ticket="],
        Look::Strong,
        r#"(?im)(?:^|[?&;,\x22'\s])(?:[\w.-]*[-_.])?(?:sig|signature|hmac|ticket)=([^&\s'\x22`<>\#,;]{16,})"#,
    ),
    context(
        TOKEN,
        &[
            "?code=", "&code=", "?key=", "&key=", "?t=", "&t=", "?auth=", "&auth=", "?k=", "&k=", "appid=", "appkey=",
            "hapikey=", "&sign=",
        ],
        Look::Strong,
        r#"(?i)[?&](?:code|key|t|auth|k|appid|app_?key|hapikey|sign|authkey)=([^&\s'\x22`<>\#,;]{20,})"#,
    ),
    // Addresses that open something by themselves.
    context(
        WEBHOOK,
        &[
            "/hook/",
            "/hooks/",
            "/webhook/",
            "/webhooks/",
            "/incoming/",
            "/catch/",
            "/t/",
            "/token/",
            "/key/",
            "/secret/",
            "/push/",
            "/trigger/",
            "/invoke/",
            "/v2/",
            "/v3/",
            "/rpc/",
            "/notify/",
            "/integration/",
            "/inputs/",
            "/http/",
            "/collect/",
            "/ingest/",
            "/input/",
            "/heartbeat/",
            "/build_hooks/",
            "/cron/",
            "/deploy/",
            "/p/",
            "/live2/",
            "/live/",
            "/reset/",
            "/verify/",
            "/confirm/",
            "/activate/",
            "/alert/",
            "/magic/",
            "/private-",
            "/announce",
            "api.day.app",
            "/ping/",
            "/bot",
        ],
        Look::Strong,
        r"(?i)https?://[\w.:-]{3,}(?:/[\w.%~-]+){0,6}?/(?:hooks?|webhooks?|incoming|catch|t|token|key|secret|push|trigger|invoke|v2|v3|rpc|notify|integration|ping|inputs|http|collect|ingest|input|heartbeat|build_hooks|cron|deploy|p|live2?|reset|verify|confirm|activate|alert|magic)/(?:[\w%~.@-]+/){0,2}?([\w%~.+=/-]{16,}?)(?:[?\#\s\x22'`<>)\]]|/[\w-]{1,15}/|$)",
    ),
    context(
        WEBHOOK,
        &["/private-", "/announce", "api.day.app"],
        Look::Strong,
        r"(?i)https?://[\w.:-]{3,}/(?:[\w.%~@/-]*/)?(?:private-)?([0-9a-zA-Z]{20,})/(?:basic\.ics|full\.ics|announce|[\w%]+$)",
    ),
    context(
        WEBHOOK,
        &[".m.pipedream.net", ".ngrok", ".requestbin"],
        Look::Strong,
        r"(?i)https?://([0-9a-z]{16,})\.(?:m\.pipedream|x\.requestbin)\.(?:net|com)",
    ),
    context(
        WEBHOOK,
        &[
            "hooks.",
            "hook.",
            "hc-ping.com",
            "webhook.site",
            "quiknode.pro",
            "quicknode.com",
            "webhook.",
            "cronitor.",
            "nosnch.",
        ],
        Look::Strong,
        r"(?i)https?://(?:[\w-]+\.){0,4}(?:hooks?|hc-ping|webhook|quiknode|quicknode|cronitor|nosnch)\.[\w.-]{2,}/(?:[\w%~.-]+/){0,4}?([\w%~.-]{16,})(?:[/?\#\s\x22'`<>)\]]|$)",
    ),
    context(
        URL_PASSWORD,
        // In paths of files there is one stroke.
        &["://", ":\\/", "tp:/", "tps:/", "sh:/", "it:/"],
        Look::Any,
        r#"(?i)[a-z][a-z0-9+.-]{1,24}:\\?/(?:\\?/)?[^\s/?#:@'\x22<>`\\]*:([^\s'\x22<>`\\]+)@(?:[\w-]+(?:\.[\w-]+){0,8}|\[[0-9a-f:]{2,}\])(?::[0-9]{2,5})?(?:[/?,]|\s|['\x22`)]|$)"#,
    ),
    context(
        URL_PASSWORD,
        &["://"],
        Look::Random,
        r"(?i)https?://([a-z0-9_]{20,})(?::(?:x-oauth-basic|x)?)?@[\w.-]{3,}",
    ),
    context(
        URL_PASSWORD,
        &["ingest", "sentry"],
        Look::Any,
        r"(?i)https?://([0-9a-f]{32})(?::[0-9a-f]{32})?@[\w.-]{3,}/[0-9]{1,20}",
    ),
    context(
        WEBHOOK,
        &["office.com/webhook"],
        Look::Any,
        r"(?i)office\.com/webhook(?:b2)?/([0-9a-f@-]{36,}/IncomingWebhook/[0-9a-z]{16,}(?:/[0-9a-z-]{20,}){0,2})",
    ),
    context(
        WEBHOOK,
        &["hooks.zapier.com"],
        Look::Any,
        r"hooks\.zapier\.com/hooks/(?:catch|standard)/([0-9]{4,12}/[A-Za-z0-9]{4,})",
    ),
    context(
        WEBHOOK,
        &["ifttt.com"],
        Look::Any,
        r"maker\.ifttt\.com/(?:trigger/[^/\s]+(?:/json)?/with|use)/(?:key/)?([A-Za-z0-9_-]{16,})",
    ),
    context(
        WEBHOOK,
        &["chat.googleapis.com", "dingtalk", "weixin"],
        Look::Any,
        r"(?:chat\.googleapis\.com|dingtalk\.com|weixin\.qq\.com)/[^\s?]+\?(?:key=[A-Za-z0-9_-]{8,}&)?(?:key|token|access_token)=([A-Za-z0-9_%-]{16,})",
    ),
    context(WEBHOOK, &["/hooks/"], Look::Any, r"https?://[\w.:-]{3,}/hooks/((?:[A-Za-z0-9]{17}/)?[A-Za-z0-9]{24,})\b"),
    context(
        WEBHOOK,
        &[
            "pagerduty.com",
            "hc-ping.com",
            "make.com",
            "integromat.com",
            "feishu",
            "larksuite",
            "logic.azure.com",
            "hook.",
            "pipedream",
        ],
        Look::Any,
        r"(?:events\.pagerduty\.com/integration|hc-ping\.com|hook\.(?:\w{2,6}\.)?(?:make|integromat)\.com|open\.(?:feishu\.cn|larksuite\.com)/open-apis/bot/v2/hook)/([A-Za-z0-9-]{20,})",
    ),
    context(
        WEBHOOK,
        &["webhooks/"],
        Look::Any,
        r"(?i)discord(?:app)?\.com/api/(?:v[0-9]{1,2}/)?webhooks/[0-9]{15,21}/([A-Za-z0-9_-]{60,})",
    ),
    context(
        WEBHOOK,
        &["/webhook/", "/webhooks/"],
        Look::Random,
        r"(?i)https?://[\w.:-]{3,}/[\w/.-]*?webhooks?/(?:[\w-]+/){0,2}([A-Za-z0-9_-]{20,})\b",
    ),
];

/// How far before and behind its word a context is looked for.
const WINDOW_BYTES: usize = 512;

/// What a word of a context asks for before it is looked at closely.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Strength {
    /// Nothing more.
    Sure,
    /// A text near it that may be a secret by its letters and digits.
    WithCandidate,
}

/// Returns the words near which a context is to be looked for. Where a context has the name of a secret in it, or a URL,
/// that tells already.
pub(crate) fn trigger_words() -> impl Iterator<Item = (&'static str, Strength)> {
    const COMMON: &[&str] = &[
        "key",
        "token",
        "secret",
        "password",
        "auth ",
        " *",
        "-u ",
        "://",
        ":\\/",
        "wg",
        "http ",
        "https ",
        "pwd",
        "passwd",
        "credential",
        "pin ",
        "passphrase",
        "passcode",
        " md5",
        "auth(",
        "auth = (",
        "credentials(",
        "credential(",
        "password ",
        "password '",
        "password=",
        "password = ",
        "passphrase ",
        "passcode ",
        "secret ",
        "passwd ",
        "pwd ",
    ];
    let telling = CONTEXTS.iter().filter(|context| context.look != Look::Named);
    telling.flat_map(|context| {
        let strength = if context.look.needs_candidate() { Strength::WithCandidate } else { Strength::Sure };
        context.words.iter().filter(|word| !COMMON.contains(word)).map(move |word| (*word, strength))
    })
}

/// Finds the words of all contexts at once.
static WORDS: LazyLock<(Search, Vec<usize>)> = LazyLock::new(|| {
    let words =
        CONTEXTS.iter().enumerate().flat_map(|(index, context)| context.words.iter().map(move |word| (*word, index)));
    let (texts, owners): (Vec<&str>, Vec<usize>) = words.unzip();
    (Search::new(texts, Case::Any), owners)
});

/// The patterns of [`CONTEXTS`], each compiled when a text first has one of its words.
static PATTERNS: [OnceLock<Regex>; CONTEXTS.len()] = [const { OnceLock::new() }; CONTEXTS.len()];

/// Compiles a pattern for bytes: with Unicode classes the automaton would be many times as large.
fn compile(pattern: &str) -> Result<Regex, regex::Error> {
    RegexBuilder::new(pattern).unicode(false).build()
}

/// Finds the secrets that a grammar gives away.
pub(crate) fn find(text: &str, found: &mut Vec<Found>) {
    let (search, owners) = &*WORDS;
    let mut windows: Vec<(usize, Range<usize>)> = Vec::new();
    // Where the last window of each context is among the windows.
    let mut last = [usize::MAX; CONTEXTS.len()];
    let mut candidates: Option<Vec<usize>> = None;
    for hit in search.through(text).find_overlapping_iter(text) {
        let index = owners[hit.pattern().as_usize()];
        if CONTEXTS[index].look.needs_candidate() {
            let candidates = candidates.get_or_insert_with(|| candidates_of(text.as_bytes()));
            let first = candidates.partition_point(|at| *at + CANDIDATE_BYTES < hit.start());
            if candidates.get(first).is_none_or(|at| *at > hit.end() + CANDIDATE_BYTES) {
                continue;
            }
        }
        let window = hit.start().saturating_sub(WINDOW_BYTES)..text.len().min(hit.end() + WINDOW_BYTES);
        match windows.get_mut(last[index]) {
            Some((_, before)) if before.end >= window.start => before.end = window.end,
            _ => {
                last[index] = windows.len();
                windows.push((index, window));
            }
        }
    }
    for (index, window) in windows {
        find_in(&CONTEXTS[index], index, text, lines_around(text.as_bytes(), window), found);
    }
}

/// How far from a word of a context a value with letters and digits may be.
const CANDIDATE_BYTES: usize = 400;

/// Returns where runs of letters and digits begin that may be secrets. Times have two letters at most, short hexadecimal
/// numbers are ids, and small letters with at most one digit are names.
pub(crate) fn candidates_of(bytes: &[u8]) -> Vec<usize> {
    let mut candidates = Vec::new();
    let mut run = Run(0);
    let mut start = 0;
    for (at, byte) in bytes.iter().enumerate() {
        let class = CLASSES[usize::from(*byte)];
        if class != Class::End as u64 && at - start < MAX_RUN_BYTES {
            run.0 += class;
            continue;
        }
        if run.may_be_secret() {
            candidates.push(start);
        }
        run = Run(0);
        start = at + 1;
    }
    if run.may_be_secret() {
        candidates.push(start);
    }
    candidates
}

/// Longest run that is counted as one.
const MAX_RUN_BYTES: usize = 1000;

/// How many bytes of each class a run has, ten bits each.
struct Run(u64);

impl Run {
    fn count(&self, class: Class) -> u64 {
        (self.0 / class as u64) & 0x3ff
    }

    fn may_be_secret(&self) -> bool {
        let digits = self.count(Class::Digit);
        if digits == 0 {
            return false;
        }
        let [hex, small, capitals, joints, marks] =
            [Class::Hex, Class::Small, Class::Capital, Class::Joint, Class::Mark].map(|class| self.count(class));
        let letters = hex + small + capitals;
        let length = letters + digits + joints + marks;
        let is_plain = capitals == 0 && marks == 0;
        let is_id = is_plain && small == 0 && joints == 0 && length < MIN_HEX_BYTES;
        let is_name = is_plain && digits == 1 && length < 2 * MIN_CANDIDATE_BYTES;
        letters > 2 && length >= MIN_CANDIDATE_BYTES && !is_id && !is_name
    }
}

/// Shortest hexadecimal number that may be a secret.
const MIN_HEX_BYTES: u64 = 16;

/// Shortest run of letters and digits that may be a secret.
const MIN_CANDIDATE_BYTES: u64 = 8;

/// What a byte is in a run that may be a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u64)]
enum Class {
    /// What ends a run.
    End = 0,
    /// A small letter that is a hexadecimal digit.
    Hex = 1,
    Small = 1 << 10,
    Capital = 1 << 20,
    Digit = 1 << 30,
    /// What stands between the words of names and paths.
    Joint = 1 << 40,
    Mark = 1 << 50,
}

static CLASSES: [u64; 256] = {
    let mut classes = [Class::End as u64; 256];
    let mut at = 0x21;
    while at < 0x7f {
        classes[at as usize] = match at {
            b'a'..=b'f' => Class::Hex,
            b'g'..=b'z' => Class::Small,
            b'A'..=b'Z' => Class::Capital,
            b'0'..=b'9' => Class::Digit,
            b'-' | b'_' | b'.' | b'/' | b':' | b',' | b'[' | b']' | b'(' | b')' => Class::Joint,
            b'"' | b'\'' | b'`' | b'=' => Class::End,
            _ => Class::Mark,
        } as u64;
        at += 1;
    }
    classes
};

/// Moves the ends of a window to ends of lines, if there are any near.
fn lines_around(bytes: &[u8], window: Range<usize>) -> Range<usize> {
    let before = &bytes[window.start.saturating_sub(WINDOW_BYTES)..window.start];
    let start = window.start - memchr::memrchr(b'\n', before).map_or(0, |at| before.len() - at - 1);
    let behind = &bytes[window.end..bytes.len().min(window.end + WINDOW_BYTES)];
    let end = window.end + memchr::memchr(b'\n', behind).map_or(behind.len(), |at| at + 1);
    start..end
}

fn find_in(context: &Context, index: usize, text: &str, window: Range<usize>, found: &mut Vec<Found>) {
    let regex = PATTERNS[index].get_or_init(|| compile(context.pattern).expect("the built-in patterns are tested"));
    let name_group = regex.capture_names().position(|name| name == Some("name"));
    let bytes = &text.as_bytes()[..window.end];
    let mut at = window.start;
    while let Some(captures) = regex.captures_at(bytes, at) {
        let Some(whole) = captures.get(0) else { break };
        let groups = (1..captures.len()).filter(|group| Some(*group) != name_group);
        let value = groups.filter_map(|group| captures.get(group)).next();
        at = whole.end().max(at + 1);
        let Some(value) = value.and_then(|value| text.get(value.range()).map(|written| (value.start(), written)))
        else {
            continue;
        };
        // What follows the value may begin the next one.
        at = (value.0 + value.1.len()).max(whole.start() + 1);
        if context.look == Look::Announced && is_id(&text[..value.0], value.1) {
            continue;
        }
        let name = name_group.and_then(|group| captures.get(group)).and_then(|name| text.get(name.range()));
        let written = trimmed(value.1);
        if let Some(kind) = kind_of(context, name, written) {
            found.push(Found::new(value.0..value.0 + written.len(), kind, Evidence::Context));
        }
    }
}

/// Says whether a value is a UUID behind the name of an id that is not one of a secret.
fn is_id(before: &str, value: &str) -> bool {
    let name = before.trim_end_matches([' ', '\t', '"', '\'', ':', '=']);
    let start = name.rfind(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '-')).map_or(0, |at| at + 1);
    // What stands before the name ends with a character, which may be long.
    let name = name.get(start..).unwrap_or_default();
    value.len() == 36
        && value.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-')
        && name.to_ascii_lowercase().ends_with("id")
        && sensitive_name(name).is_none()
}

/// Leaves out an escaped line end behind a value.
fn trimmed(value: &str) -> &str {
    let value = value.trim_end();
    value.strip_suffix("\\n").or_else(|| value.strip_suffix("\\r")).map_or(value, |value| value.trim_end_matches('\\'))
}

/// Returns the kind of the secret that a value is, if it looks as its context asks.
fn kind_of(context: &Context, name: Option<&str>, value: &str) -> Option<Kind> {
    let is_one = match context.look {
        Look::Any => !stands_in(value) && is_plausible_password(value),
        Look::Password => is_secret(value, "password", Form::Quoted, &PASSWORD),
        Look::Random => is_random(value),
        Look::Announced => is_announced(value) || (is_password(value) && !stands_in(value)),
        Look::Strong => is_strong(value),
        Look::WeaklyNamed => {
            let name = name?;
            let kind = sensitive_name(name).or_else(|| weak_name(name))?;
            return is_strong(value).then_some(kind);
        }
        Look::Named => {
            let name = name?;
            let kind = sensitive_name(name)?;
            return is_secret(value, name, Form::Environment, &kind).then_some(kind);
        }
    };
    is_one.then(|| context.kind.clone())
}

/// Says whether a value on its own, behind what announces a secret, is one: random, a key, or a password of words.
pub(crate) fn is_announced(value: &str) -> bool {
    let value = value.trim_end_matches(['.', ',', ';']);
    // Letters alone are a word.
    value.len() >= 8
        && !value.bytes().all(|byte| byte.is_ascii_alphabetic())
        && !stands_in(value)
        && (is_random(value) || is_strong(value) || is_human(value) || is_worded(value) || is_mixed(value))
}

/// Says whether a value is a password where one is expected: made to be remembered, or letters and digits without a word.
pub(crate) fn is_password(value: &str) -> bool {
    let has = |test: fn(&u8) -> bool| value.as_bytes().iter().any(test);
    let is_scrambled = value.len() >= 10
        && value.bytes().all(|byte| byte.is_ascii_alphanumeric())
        && has(u8::is_ascii_digit)
        && has(u8::is_ascii_lowercase)
        && has(u8::is_ascii_uppercase);
    let is_marked = value.len() >= 12
        && has(u8::is_ascii_digit)
        && has(u8::is_ascii_alphabetic)
        && has(|byte| matches!(byte, b'!' | b'@' | b'#' | b'%' | b'^' | b'&' | b'*' | b'+' | b'=' | b'~' | b'?'))
        && !value.contains("://")
        && !is_call(value)
        && is_plausible(value, Form::Quoted, &PASSWORD);
    is_memorable(value) || is_marked || (is_scrambled && is_plausible(value, Form::Bare, &PASSWORD))
}

/// Says whether a value has all four sorts of characters, with a mark that names and paths do not have.
pub(crate) fn is_mixed(value: &str) -> bool {
    let has = |test: fn(&u8) -> bool| value.as_bytes().iter().any(test);
    value.len() >= 10
        && has(u8::is_ascii_lowercase)
        && has(u8::is_ascii_uppercase)
        && has(u8::is_ascii_digit)
        && has(|byte| matches!(byte, b'!' | b'@' | b'#' | b'$' | b'%' | b'^' | b'&' | b'*' | b'+' | b'~' | b'?'))
        && !value.contains("://")
        && !value.contains("->")
        && !is_call(value)
        && words_percent(value) <= 60
}

/// Says whether a value can hardly be anything but a key: long and random, many hexadecimal digits, or a UUID.
pub(crate) fn is_strong(value: &str) -> bool {
    let has = |test: fn(&u8) -> bool| value.as_bytes().iter().any(test);
    let is_text = value.bytes().all(|byte| byte.is_ascii_graphic());
    let is_hex = value.len() >= 24 && value.bytes().all(|byte| byte.is_ascii_hexdigit());
    let is_uuid = value.len() == 36
        && value.bytes().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        });
    let is_random = value.len() >= 16 && has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic) && is_random(value);
    is_text && distinct(value) >= 8 && !stands_in(value) && (is_hex && has(u8::is_ascii_digit) || is_uuid || is_random)
}

/// Says whether a value is random, whatever it is called: no word, number, path, address or name of code.
pub(crate) fn is_random(value: &str) -> bool {
    let value = value.trim_end_matches(['.', ',', ';', ':', ')', '!']);
    let has = |test: fn(&u8) -> bool| value.as_bytes().iter().any(test);
    let is_token = || {
        value.len() >= 16
            && has(u8::is_ascii_digit)
            && has(u8::is_ascii_alphabetic)
            && is_plausible(value, Form::Bare, &CREDENTIALS)
    };
    !stands_in(value)
        && !value.contains("://")
        && !value.contains("->")
        && !is_call(value)
        && !is_rule(&value.to_lowercase())
        && !is_character_class(value)
        && (is_generated(value) || is_token())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_compiles_and_has_words() {
        for context in CONTEXTS {
            assert!(compile(context.pattern).is_ok(), "{}: {:?}", context.pattern, compile(context.pattern));
            assert!(!context.words.is_empty());
            assert!(
                context.words.iter().all(|word| !word.is_empty() && word.to_ascii_lowercase() == **word),
                "{:?}",
                context.words
            );
            let is_named = matches!(context.look, Look::Named | Look::WeaklyNamed);
            assert_eq!(is_named, context.pattern.contains("P<name>"), "{}", context.pattern);
            assert!(Kind::parse(context.kind.as_str()).is_some());
        }
    }

    #[test]
    fn statements_commands_and_headers_give_their_secrets_away() {
        const SECRET: &str = "Vq7#xR2!mKp9";
        for text in [
            "CREATE USER app IDENTIFIED BY 'SECRETVALUE';",
            "ALTER USER app IDENTIFIED WITH mysql_native_password BY \"SECRETVALUE\";",
            "CREATE ROLE app WITH LOGIN PASSWORD 'SECRETVALUE';",
            "ALTER LOGIN sa WITH PASSWORD = N'SECRETVALUE';",
            "SET PASSWORD FOR 'app'@'%' = PASSWORD('SECRETVALUE');",
            "sqlplus system/SECRETVALUE@db",
            "db.internal:5432:shop:app:SECRETVALUE",
            "curl -s -u 'admin:SECRETVALUE' https://x",
            "curl https://x --user admin:SECRETVALUE",
            "echo 'SECRETVALUE' | sudo -S apt update",
            "printf '%s\\n' 'SECRETVALUE' | docker login --password-stdin",
            "sudo -S ls <<< 'SECRETVALUE'",
            "echo 'app:SECRETVALUE' | chpasswd",
            "expect \"*?assword:*\"\nsend \"SECRETVALUE\\r\"",
            "aws configure set aws_secret_access_key SECRETVALUE",
            "gh secret set DEPLOY_TOKEN --body SECRETVALUE",
            "ParameterKey=DBPassword,ParameterValue=SECRETVALUE",
            "form-data; name=\"password\"\n\nSECRETVALUE\n--x",
            "requests.get(u, auth=('admin', 'SECRETVALUE'))",
            "new PDO('mysql:host=x', 'app', 'SECRETVALUE')",
            "The password for admin is SECRETVALUE",
            "smbclient -U 'app%SECRETVALUE' //x/y",
            "app:SECRETVALUE@tcp(db:3306)/shop",
            "postgres://app:SECRETVALUE@db:5432/shop",
            "mirror/https:/app:SECRETVALUE@git.example.com/x.git",
            "a:1:{s:8:\"password\";s:12:\"SECRETVALUE\";}",
            "*2\r\n$8\r\npassword\r\n$12\r\nSECRETVALUE\r\n",
            "3) \"password\"\n4) \"SECRETVALUE\"",
            "HSET app:mail password SECRETVALUE",
            "S'password'\np1\nS'SECRETVALUE'\np2",
            "me@example.com:{PLAIN}SECRETVALUE:5000:5000::/home/me",
            "net use Z: \\\\host\\share SECRETVALUE /user:CORP\\me /persistent:yes",
            "BUNDLE_GEMS__EXAMPLE__DEV: \"api:SECRETVALUE\"",
            "alice: What is the root password?\nbob: SECRETVALUE\n",
        ] {
            let text = text.replace("SECRETVALUE", SECRET);
            let mut found = Vec::new();
            find(&text, &mut found);
            assert!(found.iter().any(|found| &text[found.span.clone()] == SECRET), "{text}: {found:?}");
        }
    }

    #[test]
    fn look_alikes_of_statements_and_commands_are_left() {
        for text in [
            ".PHONY: rotate-secrets check-token password-reset\nrotate-secrets:\n\t./rotate --env $(ENV)",
            "\u{1b}[32mrotate-secrets check-token red-blue\u{1b}[m\nx --env y",
            "net use Z: \\\\host\\share /user:CORP\\me /persistent:yes",
            "f\"{plain}{suffix}\"",
            "a:1:{s:8:\"password\";s:0:\"\";}",
            "Write the recovery phrase down.\nIt is shown once, and never again after this page was closed.\n",
        ] {
            let mut found = Vec::new();
            find(text, &mut found);
            assert!(found.is_empty(), "{text}: {found:?}");
        }
    }
}
