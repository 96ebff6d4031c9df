//! Contexts of statements, commands, settings, sentences and serialized data, one line each.

use super::grammar::{Context, Look, context, quoted, value};
use super::kind::Kind;
use super::names::{API_KEY, PASSWORD, SECRET, TOKEN};

const URL_PASSWORD: Kind = Kind::known("url-password");
const PHRASE: Kind = Kind::known("recovery-phrase");

pub(crate) static CONTEXTS: &[Context] = &[
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
    // Texts that are piped into a command, or written to a file, whose name contains a word for a secret.
    context(
        SECRET,
        &["echo ", "printf "],
        Look::Spoken,
        concat!(
            r#"(?i)\b(?:echo|printf)[ \t]{1,4}(?:-[a-z]{1,3}[ \t]{1,4}|--[ \t]{1,4}|['\x22]%s(?:\\+n|\n)?['\x22][ \t]{1,4}){0,3}"#,
            value!(),
            r#"[ \t]{0,4}\|[ \t]{0,4}[^\n|;]*?(?:secret|token|passw|credential|login|auth|\bkey\b)"#
        ),
    ),
    context(
        PASSWORD,
        &["echo ", "printf "],
        Look::Spoken,
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
    // The password may be before the user, and nothing but a path before it.
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
        Look::Spoken,
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
        Look::Spoken,
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
        Look::Spoken,
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
        Look::Spoken,
        r"(?i)\b(?:acl setuser|user)[ ]\S+[ ](?:\S+[ ]){0,6}?>(\S{3,})",
    ),
    context(PASSWORD, &["\" \""], Look::Spoken, r#"(?m)^\x22[\w.@-]+\x22[ \t]\x22(\S{6,})\x22[ \t]*\r?$"#),
    context(
        PASSWORD,
        &["\" *", "l2tpd", "pptpd", "pppd", "chap", "pap-secrets"],
        Look::Spoken,
        r#"(?m)^\x22?[\w.*@\\-]+\x22?[ \t]{1,20}[\w.*-]+[ \t]{1,20}\x22?(\S{6,}?)\x22?[ \t]{1,20}(?:\*|[0-9.]{7,15})[ \t]*\r?$"#,
    ),
    context(
        PASSWORD,
        &["auth-user-pass"],
        Look::Spoken,
        r"(?i)auth-user-pass>?[ \t]*\r?\n[ \t]*\S+\r?\n[ \t]*(\S{6,})[ \t]*(?:\r?\n|$)",
    ),
    context(
        PASSWORD,
        &["tacacs", "radius"],
        Look::Announced,
        r"(?im)^[ \t]*(?:tacacs|radius)(?:-server|[ ]server)?\b[^\n]*\bkey[ ](?:[0-9][ ])?(\S{6,})[ \t]*\r?$",
    ),
    context(
        PASSWORD,
        &["sonar."],
        Look::Strong,
        r"(?:\b|-D)sonar\.(?:login|token|password)[ ]?=[ ]?([0-9A-Za-z_]{20,})",
    ),
    context(
        PASSWORD,
        &["]:", ".com ", ".org ", ".net ", ".corp ", ".local ", ".io ", ".internal "],
        Look::Spoken,
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
        Look::Spoken,
        r#"(?i)(?:\b|_)(?:auth|login|users?|userpwd|basicauth|basic_auth|creds?|credentials?|auth_basic|http_auth|proxy_auth)['\x22]?(?:[ ]?[=:,(]{1,2}[ ]?|[ ](?:admin[ ])?)['\x22]?[\w.@-]+:([^\s'\x22`]{8,})"#,
    ),
    context(
        PASSWORD,
        &[": psk ", ": xauth ", ": eap ", ": ntlm ", ": pin "],
        Look::Spoken,
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
        Look::Spoken,
        r"(?i)\b(?:password|passphrase|passcode|token|secret|credentials?)\b[^\n]*\n[ \t]*(?:\r?\n[ \t]*)?(?:the |your )?(?:(?:new|generated|temporary|initial|current)[ ])?(?:value|password|key|secret|token|credential|pass|passphrase)(?:[ ]is)?[ ]?:[ \t]{0,8}['\x22`]?(\S{8,}?)['\x22`]?[ \t]*(?:\r?\n|$)",
    ),
    context(
        PASSWORD,
        &["password", "passphrase", "passcode", "pwd"],
        Look::Spoken,
        r#"(?i)\b(?:password|passphrase|passcode|pwd)\b[^\n]*?[ ](?:is|was|to|with|as|ist|now|=|:)[ ]['\x22`*]{0,3}([^\s'\x22`]{8,})"#,
    ),
    context(PASSWORD, &["` / `", "`/`", "` : `", "`, `"], Look::Spoken, r"`[\w.@+-]+`[ ]?[/:,][ ]?`([^\s`]{8,})`"),
    context(
        PASSWORD,
        &["type=\"password\"", "type='password'", "type=password"],
        Look::Spoken,
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
    context(PASSWORD, &["com2sec"], Look::Spoken, r"\bcom2sec6?[ \t]{1,9}\S+[ \t]{1,9}\S+[ \t]{1,9}(\S{3,})"),
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
    // Values with a tag that says that they are plain text and no hash.
    context(
        PASSWORD,
        &["{plain", "{clear", "{noop"],
        Look::Spoken,
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
];
