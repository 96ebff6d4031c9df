//! Contexts of configuration, code of infrastructure and continuous integration, one line each.

use super::grammar::{Context, Look, context, quoted};
use super::kind::Kind;
use super::names::{API_KEY, PASSWORD, SECRET, TOKEN};

const COOKIE: Kind = Kind::known("cookie");

pub(crate) static CONTEXTS: &[Context] = &[
    // A user and a password as one word: haproxy, curl's configuration, lighttpd, mitmproxy.
    context(
        PASSWORD,
        &["stats auth", "proxyauth", "proxy-auth", "basic-auth", "basicauth", "httpauth", "http-auth", "auth-user"],
        Look::Password,
        r"(?im)\b(?:stats|proxy|basic|http|web|admin)?[ _-]?auth(?:-user)?[ \t]*[ =:][ \t]*['\x22]?[\w.@-]{1,40}:([^\s'\x22:]{6,})['\x22]?[ \t]*\r?$",
    ),
    context(
        PASSWORD,
        &["insecure-password", "password ", "passphrase "],
        Look::Password,
        r"(?im)\b(?:user(?:name)?|login|account|peer)[ \t]{1,4}[^\s=:]+[ \t]{1,4}(?:[\w-]+[ \t]{1,4}){0,4}?(?:insecure-|plaintext-|encrypted-)?(?:password|passphrase)[ \t]{1,4}(?:[0-9][ ])?['\x22]?([^\s'\x22]{6,})['\x22]?[ \t;]*\r?$",
    ),
    // Calls that make a secret of a text.
    context(
        SECRET,
        &[
            "plaintext(",
            "plain_text(",
            "fromplain",
            "secretstr(",
            "secretstring",
            "secretvalue(",
            "secretbox",
            "securestring(",
            "guardedstring(",
            "protectedstring",
            "redacted.make(",
            "redacted::new(",
            "redacted(",
            "sensitive(",
            ".secret(",
            "secret(",
            "secret::new(",
            "secret::from(",
            "secret.of(",
            "secret.from",
            "password.of(",
            "password.from",
            "password::new(",
            "frompassword(",
            "obscured(",
            "masked(",
            "concealed(",
        ],
        Look::Password,
        concat!(
            r"\b(?:unsafe_?[pP]lain_?[tT]ext|from_?[pP]lain_?[tT]ext|plain_?[tT]ext|PlainText\w{0,20}|Secret(?:Str(?:ing)?|Bytes|Value|Box|Vec|Text)?|secret(?:str|string)?|secrecy::\w+|GuardedString|ProtectedString|SecureString|Redacted|Sensitive|sensitive|Obscured|Masked|Concealed|Password|Passphrase)(?:::<[\w&' ]{1,20}>)?(?:(?:::|\.)(?:new|from\w{0,20}|of|make|wrap|create|plain\w{0,10}|unsafe\w{0,20}|value|expose))?\(\s{0,40}(?:[bru&]|String::from\(|Box::new\()?",
            quoted!(),
            r"(?:\.(?:to|into|as)\w{0,20}\(\))?\s{0,40}[,)]"
        ),
    ),
    // Commands of builds that hide a value, and those that set one.
    context(
        SECRET,
        &["::add-mask::", "[add-mask]"],
        Look::Any,
        r"(?i)(?:::|\[)add-mask(?:::|\])([^\s'\x22`$][^\s'\x22`]{3,})",
    ),
    context(SECRET, &["task.setsecret"], Look::Any, r"(?i)##vso\[task\.setsecret\]([^\s'\x22`$][^\s'\x22`]{3,})"),
    context(
        SECRET,
        &["task.setvariable"],
        Look::Any,
        r"(?i)##vso\[task\.setvariable[ ][^\]\n]*issecret=true[^\]\n]*\]([^\s'\x22`$][^\s'\x22`]{3,})",
    ),
    context(
        SECRET,
        &["task.setvariable"],
        Look::Named,
        r"(?i)##vso\[task\.setvariable[ ]variable=(?P<name>[\w.-]{2,})[^\]\n]*\]([^\s'\x22`$][^\s'\x22`]{3,})",
    ),
    context(
        SECRET,
        &["::set-output", "::set-env", "::save-state"],
        Look::Named,
        r"::(?:set-output|set-env|save-state)[ ]name=(?P<name>[\w.-]{2,})::([^\s'\x22`$][^\s'\x22`]{3,})",
    ),
    context(
        SECRET,
        &["redactor add", "redact add"],
        Look::Any,
        r"(?i)\b(?:echo|printf)[ ](?:-n[ ])?['\x22]?([^\s'\x22|]{4,})['\x22]?[ ]*\|[ ]*buildkite-agent[ ]redactor[ ]add",
    ),
    // Records for scripts: an id of a key, and the key some fields behind it.
    context(
        API_KEY,
        &["akia", "asia"],
        Look::Strong,
        r"\b(?:AKIA|ASIA)[A-Z0-9]{12,16}\b[^\n]{1,80}?[\s|,;'\x22]([A-Za-z0-9/+]{40})(?:[\s|,;'\x22]|$)",
    ),
    context(
        TOKEN,
        &["reporter_id", "reporter-id"],
        Look::Strong,
        r"(?i)\bCC_TEST_REPORTER_ID[ ]?[=:][ ]?['\x22]?([0-9a-f]{32,64})\b",
    ),
    // What is hashed, and what is typed into a field of a form.
    context(
        PASSWORD,
        &[
            "password_hash",
            "hash(",
            "hash::make",
            "hashpw",
            "make_password",
            "set_password(",
            "crypt(",
            "|hash",
            "encoder",
        ],
        Look::Password,
        concat!(
            r"(?i)\b(?:password_hash|generate_password_hash|hash_password|make_password|set_password|Hash::make|bcrypt\.(?:hash(?:sync)?|generatefrompassword|compare(?:sync)?)|argon2(?:id)?\.hash|hashpw|checkpw|password_verify|crypt\.crypt|passwordencoder\.encode|encoder\.encode)\(\s{0,40}[bru]?",
            quoted!()
        ),
    ),
    context(
        PASSWORD,
        &["password_hash", "| hash", "|hash", "| b64encode", "|b64encode", "| bcrypt"],
        Look::Password,
        concat!(
            quoted!(),
            r"\s{0,4}\|\s{0,4}(?:password_hash|hash|bcrypt|b64encode|htpasswd|string\s?\|\s?password_hash)\b"
        ),
    ),
    context(
        PASSWORD,
        &["fill(", "type(", "keys(", "setvalue(", "set_value(", "sequentially(", "entertext(", "typetext("],
        Look::Password,
        concat!(
            r"(?i)\b(?:password|passwd|passphrase|passcode|pwd|pass)\b[^\n;]{0,40}?\)[\s)]{0,20}\.(?:and\(\)\.)?(?:fill|type|send_?keys|set_?value|press_?sequentially|enter_?text|type_?text|input_?text|clear_?and_?type|set)\(\s{0,20}",
            r"(?:['\x22]([^'\x22{}\n]{6,})(?:\{\w+\})?['\x22])"
        ),
    ),
    context(
        PASSWORD,
        &["fill", "type(", "typetext(", "setvalue(", "input text", "input password", "with:"],
        Look::Password,
        concat!(
            r"(?i)\b(?:fill|fill_?in|type|type_?text|set_?value|fill_?field|input)\b[( ]\s{0,20}['\x22][^'\x22\n]{0,40}(?:password|passwd|passphrase|passcode|pwd)[^\n]{0,20}?['\x22]\]?['\x22]?\s{0,4},\s{0,4}(?:with:\s?|with\s?=>\s?)?",
            quoted!()
        ),
    ),
    context(
        PASSWORD,
        &["input text", "input password", "fill text", "fill secret", "type text", "type secret", "type password"],
        Look::Spoken,
        r"(?im)^[ \t]*(?:Input|Fill|Type|Enter)[ ](?:Text|Password|Secret)(?:[ ]{2,}|\t+)[^\n]*?(?:passw|pwd|secret|passphrase)[^\s]*(?:[ ]{2,}|\t+)(\S{6,})[ \t]*\r?$",
    ),
    // Seeds of codes that change with the time.
    context(
        SECRET,
        &["totp", "setup key", "hotp", "authenticator", "otp", "2fa", "mfa", "secret key", "manual entry"],
        Look::Any,
        r"(?i)\b(?:(?:setup|secret|authenticator|totp|otp|2fa|mfa|manual|entry|manually)[ _-]?){1,2}(?:key|secret|seed|code)['\x22]?[^\n:=]{0,30}[:=][ ]{0,4}['\x22`*]{0,3}((?-i:[a-z2-7]{4}(?:[ -][a-z2-7]{4}){3,15}|[A-Z2-7]{4}(?:[ -][A-Z2-7]{4}){3,15}|[A-Z2-7]{16,64}))(?:[^\w-]|$)",
    ),
    context(
        SECRET,
        &["totp", "hotp", "authenticator", "otp("],
        Look::Any,
        r"(?i)\b(?:\w*(?:totp|hotp|otp)\w*|authenticator\.\w+)(?:\.\w{2,20})?\(\s{0,20}(?:\{\s{0,4}secret:\s{0,4})?b?['\x22]([A-Z2-7]{16,64}=*)['\x22]",
    ),
    // Cookies that code sets, and keys that are written as lists of bytes.
    context(
        COOKIE,
        &["cookie"],
        Look::Random,
        r"(?i)\bcookies?(?:_?jar)?\s{0,2}(?:\.\w{0,12}(?:set|add|put)\w{0,12}|\[)\(?\s{0,4}['\x22][\w.%-]{2,60}['\x22](?:\]?\s{0,4}[,=]\s{0,4})['\x22]([^\s'\x22;]{12,})['\x22]",
    ),
    context(
        SECRET,
        &[
            "solana",
            "keypair",
            "secret_key",
            "secretkey",
            "id.json",
            "from_bytes",
            "uint8array",
            "private_key",
            "privatekey",
        ],
        Look::Any,
        r"(?is)(?:solana|keypair|secret_?key|private_?key|id\.json|from_?(?:secret_?key|bytes)|uint8array)[^\[\]]{0,200}\[(\s{0,8}[0-9]{1,3}(?:\s{0,12},\s{0,12}[0-9]{1,3}){31,63}\s{0,8},?\s{0,8})\]",
    ),
    // A code that is exchanged for a token.
    context(
        TOKEN,
        &["code="],
        Look::Strong,
        r"(?i)(?:client_id|client_secret|grant_type|redirect_uri|code_verifier|oauth|authorize|callback|state=)[^\n]{0,300}?[\s'\x22&?;]code=([^\s'\x22&;<>]{16,})",
    ),
    // Values that stand where none is given: parameters of templates, and variables of shells and of Spring.
    context(
        PASSWORD,
        &["default: ", "defaultvalue: "],
        Look::Named,
        r"(?m)^[ \t]*(?P<name>[\w-]{2,}):[ \t]*\r?\n(?:[ \t]+(?:Type|NoEcho|Description|MinLength|MaxLength|AllowedPattern|ConstraintDescription|type|description|sensitive|required|title|minLength):[^\n]*\n){0,8}?[ \t]+[dD]efault(?:Value)?:[ ]['\x22]?([^\s'\x22]{6,})['\x22]?[ \t]*\r?$",
    ),
    context(PASSWORD, &["${"], Look::Named, r"\$\{(?P<name>[\w.-]{2,}):[-=]?([^\s{}'\x22$]{6,})\}"),
    // Replacements of an editor, and columns of one heading.
    context(
        PASSWORD,
        &["sed "],
        Look::Named,
        r"\bs[/|\#][^\w/|\#]{0,6}(?P<name>[\w.-]{2,}?)[^\w/|\#]{0,6}[/|\#]([^/|\#\s'\x22=]{6,})[/|\#]",
    ),
    context(
        PASSWORD,
        &["\n--", "\n+--"],
        Look::Named,
        r"(?m)^[ \t|]*(?P<name>\w{2,})[ \t|]*\n[-+]{3,}[ \t]*\n[ \t|]*(\S{6,})[ \t|]*\r?$",
    ),
    context(PASSWORD, &["register =>", "register=>"], Look::Any, r"(?i)\bregister[ ]?=>[ ]?[\w.-]+:([^\s@:]{3,})@"),
];
