//! Secrets in the arguments of programs: each program has options of its own that take one.
//!
//! A command is read as a shell reads it, so that quotes and escapes are no part of a secret. Options with telling names
//! (`--password`) and members with them (`password=...`) count for every program of the table.

use std::ops::Range;
use std::sync::LazyLock;

use super::contexts::{is_announced, is_password, is_strong};
use super::found::{Evidence, Found};
use super::kind::Kind;
use super::literal::{is_call, is_file, is_rooted_path, stands_in};
use super::names::{PASSWORD, SECRET, sensitive_name, weak_name};
use super::plausible::is_plausible_password;
use super::quotes::outer_quote;
use super::search::{Case, Search};
use super::sentences::is_user;
use super::shell::{Quoting, Word, words};

/// A group of programs and where their secrets are. In a rule, `-p*` is an option with its value attached, `-p_` one with
/// its value in the next word, `-p?` either; `-u:` takes a user, a colon and a password, `-u%` and `-u,` have another mark;
/// `pass:*` is any word that begins so; `@2` is the second word that is no option, `@-1` the last. A rule after `word/` holds
/// where that word is one of the command's. `!` at the end asks for a value that can be nothing but a key.
struct Programs {
    names: &'static [&'static str],
    rules: &'static [&'static str],
}

const fn programs(names: &'static [&'static str], rules: &'static [&'static str]) -> Programs {
    Programs { names, rules }
}

static PROGRAMS: &[Programs] = &[
    // Databases.
    programs(
        &[
            "mysql",
            "mysqldump",
            "mysqladmin",
            "mysqlimport",
            "mysqlcheck",
            "mysqlshow",
            "mysqlsh",
            "mysqlslap",
            "mariadb",
            "mariadb-dump",
            "mariadb-admin",
            "mycli",
            "mydumper",
            "myloader",
            "xtrabackup",
        ],
        &["-p*", "password/@-1"],
    ),
    programs(
        &["mongo", "mongosh", "mongodump", "mongorestore", "mongoexport", "mongoimport", "mongostat", "mongotop"],
        &["-p?"],
    ),
    programs(
        &["redis-cli", "valkey-cli", "keydb-cli", "redis-benchmark"],
        &["-a?", "AUTH/@-1", "auth/@-1", "requirepass/@-1"],
    ),
    programs(&["sqlcmd", "osql", "bcp", "tsql"], &["-P?"]),
    programs(&["isql"], &["-P?", "@3"]),
    programs(&["cqlsh", "beeline", "impala-shell", "ysqlsh", "vsql", "nzsql", "agtype"], &["-p_", "-w_"]),
    programs(
        &[
            "psql",
            "pg_dump",
            "pg_restore",
            "pgcli",
            "createuser",
            "pgbench",
            "pg_basebackup",
            "snowsql",
            "clickhouse-client",
            "clickhouse",
            "influx",
            "flyway",
            "liquibase",
            "sqoop",
            "trino",
            "presto",
            "db2",
            "sqlplus",
            "sqlldr",
            "duckdb",
            "neo4j-admin",
            "arangosh",
        ],
        &["-password_", "-t_!"],
    ),
    programs(&["cypher-shell", "couchbase-cli", "cbq", "nodetool", "hbase", "dsbulk", "orientdb"], &["-p_", "-pw_"]),
    programs(&["rabbitmqctl"], &["add_user/@3", "change_password/@3", "authenticate_user/@3"]),
    programs(&["rabbitmqadmin"], &["-p_"]),
    // The web.
    programs(
        &["curl", "curlie"],
        &[
            "-u:",
            "-U:",
            "--user:",
            "--proxy-user:",
            "--pass_",
            "--key-pass_",
            "--tlspassword_",
            "--oauth2-bearer_",
            "-E:",
        ],
    ),
    programs(&["wget", "wget2", "aria2c", "axel"], &["--http-passwd_", "--ftp-passwd_"]),
    programs(&["http", "https", "xh", "xhs", "httpie"], &["-a:", "--auth:"]),
    programs(&["ab", "siege", "wrk", "hey", "httping"], &["-A:", "-P:", "-a:"]),
    programs(&["lftp"], &["-u,"]),
    programs(&["ncftp", "ncftpput", "ncftpget", "yt-dlp", "youtube-dl", "gallery-dl", "streamlink"], &["-p_"]),
    programs(&["transmission-remote"], &["-n:", "--auth:"]),
    // Keys and certificates.
    programs(&["openssl"], &["passwd/@-1", "pass:*", "-k_", "-K_", "-hmac_", "-macopt_"]),
    programs(&["gpg", "gpg2", "gpgsm"], &["--passphrase_"]),
    programs(
        &[
            "keytool",
            "jarsigner",
            "apksigner",
            "pvk2pfx",
            "certutil",
            "pk12util",
            "osslsigncode",
            "signtool",
            "certreq",
        ],
        &[
            "pass:*",
            "-storepass_",
            "-keypass_",
            "-srcstorepass_",
            "-deststorepass_",
            "-destkeypass_",
            "-srckeypass_",
            "-new_",
            "-W_",
            "-K_",
            "-pass_",
            "-p_",
            "/p_",
        ],
    ),
    programs(&["ssh-keygen"], &["-N_", "-P_"]),
    programs(&["ykman", "yubico-piv-tool", "pkcs11-tool", "softhsm2-util"], &["-P_", "-p_", "-N_", "-k_!"]),
    programs(&["oathtool"], &["@-1!"]),
    programs(&["age-keygen", "minisign", "signify", "cosign"], &[]),
    // Logins and terminals.
    programs(&["sshpass"], &["-p?"]),
    programs(&["plink", "pscp", "psftp", "putty", "kitty", "klink"], &["-pw_"]),
    programs(&["xfreerdp", "xfreerdp3", "wfreerdp", "sdl-freerdp", "mstsc"], &["/p:*", "/pth:*", "-p?"]),
    programs(&["rdesktop", "x11vnc", "vncpasswd", "vncviewer"], &["-p_", "-passwd_", "-rfbauth_"]),
    programs(&["psexec", "psexec64", "paexec", "winrs", "pslist", "psservice"], &["-p_", "-p:*", "/p:*"]),
    programs(&["cmdkey"], &["/pass:*"]),
    programs(&["wmic"], &["/password:*"]),
    programs(&["schtasks"], &["/rp_", "/p_"]),
    programs(&["net"], &["user/@3", "/user:>", "use/@3!", "use/@4!"]),
    programs(&["dsadd", "dsmod"], &["-pwd_"]),
    programs(
        &["smbclient", "smbget", "rpcclient", "winexe", "smbmap", "smbcacls", "pth-winexe", "nmblookup"],
        &["-U%", "--user%", "-p_"],
    ),
    programs(
        &["netexec", "nxc", "crackmapexec", "evil-winrm", "ldapdomaindump", "bloodhound-python", "kerbrute"],
        &["-p_", "-H_"],
    ),
    programs(
        &["ldapsearch", "ldapadd", "ldapmodify", "ldapdelete", "ldapwhoami", "ldapcompare", "ldapmodrdn"],
        &["-w?"],
    ),
    programs(&["ldappasswd"], &["-w?", "-s_", "-a_"]),
    programs(&["samba-tool"], &["user/@4"]),
    programs(&["ipa-server-install", "ipa-client-install"], &["-p_", "-a_", "-w_"]),
    programs(&["useradd", "usermod"], &["-p_"]),
    programs(&["dscl", "sysadminctl"], &["-passwd_", "-password_", "-newPassword_", "-adminPassword_"]),
    programs(&["security"], &["-p_", "-w_", "-P_"]),
    programs(&["wpa_passphrase"], &["@2"]),
    programs(&["nmcli"], &["password/>", "wifi-sec.psk/>", "wpa-psk/>"]),
    programs(&["networksetup"], &["-setairportnetwork/@-1"]),
    programs(&["netsh"], &["key=*", "keyMaterial=*"]),
    programs(&["ipmitool", "ipmipower", "racadm"], &["-P_", "-p_"]),
    programs(
        &["snmpget", "snmpwalk", "snmpset", "snmpbulkwalk", "snmptrap", "snmpgetnext", "snmptable"],
        &["-A_", "-X_", "-c_"],
    ),
    programs(&["swaks", "sendemail", "sendEmail"], &["-ap_", "-xp_"]),
    programs(&["hydra", "medusa", "ncrack"], &["-p_"]),
    programs(&["sqlmap"], &["--auth-cred:"]),
    // Archives.
    programs(&["7z", "7za", "7zr", "7zz"], &["-p*"]),
    programs(&["rar", "unrar"], &["-p*", "-hp*"]),
    programs(&["zip", "unzip", "zipcloak", "zipinfo", "funzip"], &["-P?"]),
    programs(&["pdftk"], &["user_pw/>", "owner_pw/>", "input_pw/>"]),
    programs(&["qpdf", "veracrypt", "truecrypt", "hdiutil"], &["-p_", "--encrypt/>"]),
    // Files and hashes of passwords.
    programs(
        &["htpasswd"],
        &[
            "-b/@-1", "-nb/@-1", "-bn/@-1", "-cb/@-1", "-bc/@-1", "-nbB/@-1", "-Bbn/@-1", "-bnB/@-1", "-cbB/@-1",
            "-Bbc/@-1", "-Bb/@-1", "-bB/@-1", "-nbm/@-1",
        ],
    ),
    programs(&["mosquitto_passwd"], &["-b/@-1"]),
    programs(&["mkpasswd", "argon2", "caddy"], &["@-1!", "--plaintext_", "-p_"]),
    programs(&["mosquitto_pub", "mosquitto_sub", "mosquitto_rr"], &["-P_"]),
    programs(&["mount", "mount.cifs", "mount_smbfs", "sshfs", "davfs2"], &["pass=*"]),
    programs(&["iscsiadm"], &["node.session.auth.password/-v_"]),
    // Containers and clouds.
    programs(
        &["docker", "podman", "buildah", "skopeo", "nerdctl", "crane", "oras", "helm", "regctl"],
        &["login/-p_", "--creds:", "--src-creds:", "--dest-creds:"],
    ),
    programs(
        &[
            "kubectl",
            "oc",
            "k9s",
            "kubeadm",
            "minikube",
            "k3s",
            "rke2",
            "kustomize",
            "kubeseal",
            "argocd",
            "flux",
            "istioctl",
        ],
        &["login/-p_", "--certificate-key_"],
    ),
    programs(
        &["az"],
        &[
            "login/-p_",
            "sql/-p_",
            "mysql/-p_",
            "postgres/-p_",
            "mariadb/-p_",
            "acr/-p_",
            "vm/-p_!",
            "vmss/-p_!",
            "--value_!",
            "--secret-value_",
        ],
    ),
    programs(&["cf"], &["login/-p_", "auth/@3"]),
    programs(&["sqlpackage"], &["/sp:*", "/tp:*"]),
    programs(
        &["aws", "aws-vault", "saml2aws", "eksctl", "sam", "cdk"],
        &["secret/--secret-string_", "--secret-string_", "--private-key_!"],
    ),
    programs(
        &[
            "gcloud",
            "gsutil",
            "doctl",
            "linode-cli",
            "hcloud",
            "scw",
            "ibmcloud",
            "oci",
            "aliyun",
            "tccli",
            "openstack",
            "exo",
        ],
        &["-p_!", "--apikey_"],
    ),
    programs(&["vault", "bao"], &["login/@2!", "unseal/@3!", "token/@3!", "-tls-skip-verify/@2!"]),
    programs(
        &["consul", "nomad", "boundary", "terraform", "tofu", "terragrunt", "packer", "pulumi", "waypoint"],
        &["-gossip-key_", "-encrypt_"],
    ),
    programs(&["mc", "mcli"], &["set/@6", "host/@7", "add/@6!"]),
    programs(
        &["s3cmd", "rclone", "restic", "borg", "duplicity", "kopia", "s5cmd"],
        &["--secret_key_", "obscure/@2", "--pass_"],
    ),
    programs(&["wg", "wg-quick"], &[]),
    programs(
        &[
            "heroku",
            "fly",
            "flyctl",
            "vercel",
            "netlify",
            "railway",
            "render",
            "wrangler",
            "firebase",
            "supabase",
            "doppler",
            "infisical",
            "ngrok",
            "cloudflared",
            "tailscale",
            "zerotier-cli",
            "netbird",
        ],
        &["-t_!", "authtoken/@-1!", "add-authtoken/@-1!", "--authkey_"],
    ),
    programs(&["bw", "op", "lpass", "keeper", "dcli", "rbw"], &["--session_", "unlock/@2", "login/@3"]),
    programs(&["secret-tool", "keyring", "pass", "gopass"], &[]),
    // Code and packages.
    programs(&["gh", "glab", "hub", "tea", "bb"], &["secret/--body_", "secret/-b_", "variable/--value_!", "-t_!"]),
    programs(&["npm", "yarn", "pnpm", "bun", "npx"], &["--otp_"]),
    programs(&["twine", "poetry", "flit", "hatch", "uv", "pip", "pdm"], &["-p_", "config/@-1!", "-a_!"]),
    programs(&["composer"], &["config/@-1!"]),
    programs(&["cargo"], &["login/@2!", "--token_"]),
    programs(&["nuget", "dotnet", "octo"], &["push/-k_", "setApiKey/@2", "-p_!", "setapikey/@2", "-Password_"]),
    programs(
        &["bundle", "mix", "cpan", "pod", "mvn", "gradle", "gradlew", "sbt", "lein", "ant", "java", "sonar-scanner"],
        &["config/@-1!", "--key_!"],
    ),
    programs(&["conan", "cabal", "anaconda"], &["-p_!", "-t_!"]),
    programs(&["p4"], &["-P_"]),
    programs(&["svn", "cvs", "git", "hg"], &["config/@-1!"]),
    programs(
        &["cypress", "percy", "chromatic", "codecov", "sentry-cli", "snyk", "sonar", "newman", "k6", "artillery"],
        &["--key_!", "-k_!", "-t_!", "--project-token_", "auth/@2!"],
    ),
    programs(&["xcrun", "altool", "notarytool", "fastlane", "codesign", "productsign"], &["altool/-p_", "-p_!"]),
    programs(
        &[
            "ansible",
            "ansible-playbook",
            "ansible-vault",
            "chef",
            "knife",
            "puppet",
            "salt",
            "salt-call",
            "vagrant",
            "bolt",
        ],
        &["-P_!", "-p_!"],
    ),
    programs(
        &[
            "airflow",
            "superset",
            "jupyter",
            "wp",
            "drush",
            "drupal",
            "rails",
            "rake",
            "artisan",
            "flask",
            "django-admin",
        ],
        &["users/-p_", "--user_pass_", "--admin_password_", "--dbpass_", "--account-pass_"],
    ),
    programs(&["grafana-cli", "grafana"], &["reset-admin-password/@-1"]),
    programs(
        &[
            "gitea",
            "forgejo",
            "gitlab-runner",
            "gitlab-rails",
            "drone",
            "woodpecker-cli",
            "circleci",
            "travis",
            "buildkite-agent",
            "jenkins-cli",
            "actions-runner",
            "config.sh",
        ],
        &["-auth:", "--registration-token_", "-r_!", "--runner-token_"],
    ),
    programs(&["kcadm", "kcadm.sh", "kcadm.bat", "kc.sh", "keycloak"], &["-p_", "--new-password_"]),
    programs(
        &[
            "kafka-configs",
            "kafka-configs.sh",
            "kcat",
            "kafkacat",
            "etcdctl",
            "elasticsearch-users",
            "elasticsearch-reset-password",
            "filebeat",
            "metricbeat",
        ],
        &["--user:", "-p_", "-u:"],
    ),
    programs(
        &["bitcoin-cli", "geth", "cast", "forge", "anvil", "solana", "eth", "lncli", "monero-wallet-cli", "electrum"],
        &[
            "walletpassphrase/@2",
            "importprivkey/@2!",
            "encryptwallet/@2",
            "--mnemonic_",
            "--private-key_",
            "-rpcpassword_",
        ],
    ),
    programs(&["gem", "choco"], &["--key_!", "-k_!"]),
    programs(&["b2"], &["@3!", "@2!"]),
    programs(
        &["wandb", "huggingface-cli", "hf", "comet", "replicate", "modal", "kaggle", "expo", "eas"],
        &["login/@2!"],
    ),
    programs(&["tmux", "screen"], &["send-keys/>!"]),
    programs(&["xdotool", "ydotool", "wtype"], &["type/>!", "@1!"]),
    programs(&["imp", "exp"], &["@1!"]),
    programs(&["radtest"], &["@2", "@5!"]),
    programs(&["kadmin", "kadmin.local", "addprinc", "cpw", "ktutil"], &["-pw_", "-w_"]),
    programs(&["teamcity", "dotnet-octo"], &["-t_!"]),
    programs(&["setx", "dotenv", "direnv", "launchctl"], &[]),
];

/// What one rule asks for.
#[derive(Debug, Clone, Copy)]
struct Rule {
    /// A word that the command must have.
    condition: &'static str,
    place: Place,
    look: Look,
}

#[derive(Debug, Clone, Copy)]
enum Place {
    /// After an option, in its word or in the next.
    Option { option: &'static str, gap: Gap, mark: Option<u8> },
    /// In any word that begins so.
    Prefix(&'static str),
    /// A word that is no option, counted from one, or from the end.
    Operand(i32),
    /// Right after the word of the condition.
    Behind,
    /// The first operand after a word that begins so.
    BehindPrefix(&'static str),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Gap {
    Attached,
    NextWord,
    Either,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Look {
    /// Any value except a placeholder.
    Any,
    /// Only a value that looks like a key or a password.
    Key,
}

impl Rule {
    fn parse(written: &'static str) -> Self {
        let (written, look) = match written.strip_suffix('!') {
            Some(rest) => (rest, Look::Key),
            None => (written, Look::Any),
        };
        let (condition, rest) = match written.split_once('/') {
            Some((condition, rest)) if !condition.is_empty() => (condition, rest),
            _ => ("", written),
        };
        let of_option = |option, gap, mark| Place::Option { option, gap, mark };
        let place = if let Some(number) = rest.strip_prefix('@') {
            Place::Operand(number.parse().unwrap_or(1))
        } else if rest == ">" {
            Place::Behind
        } else if let Some(prefix) = rest.strip_suffix('>') {
            Place::BehindPrefix(prefix)
        } else if let Some(prefix) = rest.strip_suffix('*') {
            if prefix.starts_with('-') && !prefix.ends_with(':') {
                of_option(prefix, Gap::Attached, None)
            } else {
                Place::Prefix(prefix)
            }
        } else if let Some(option) = rest.strip_suffix('_') {
            of_option(option, Gap::NextWord, None)
        } else if let Some(option) = rest.strip_suffix('?') {
            of_option(option, Gap::Either, None)
        } else {
            let (option, mark) = rest.split_at(rest.len() - 1);
            of_option(option, Gap::Either, mark.bytes().next())
        };
        Self { condition, place, look }
    }
}

/// Finds the names of all programs at once.
static NAMES: LazyLock<(Search, Vec<usize>, Vec<Vec<Rule>>)> = LazyLock::new(|| {
    let names =
        PROGRAMS.iter().enumerate().flat_map(|(index, programs)| programs.names.iter().map(move |name| (*name, index)));
    let (texts, owners): (Vec<&str>, Vec<usize>) = names.unzip();
    let rules = PROGRAMS.iter().map(|programs| programs.rules.iter().map(|rule| Rule::parse(rule)).collect()).collect();
    (Search::new(texts, Case::Exact), owners, rules)
});

/// Most programs of one line whose arguments are read.
const MAX_PROGRAMS_OF_LINE: usize = 12;

/// Finds the secrets in the commands of a text.
pub(crate) fn find(text: &str, found: &mut Vec<Found>) {
    let (search, owners, rules) = &*NAMES;
    let bytes = text.as_bytes();
    let (mut done, mut programs) = (0, 0);
    for hit in search.through(text).find_overlapping_iter(text) {
        if hit.start() < done || !is_program(bytes, hit.range()) {
            continue;
        }
        // A command may be in the arguments of another one, but each command is read only once.
        let is_new_line = memchr::memchr(b'\n', &bytes[done..hit.start()]).is_some();
        programs = if is_new_line { 1 } else { programs + 1 };
        if programs > MAX_PROGRAMS_OF_LINE {
            continue;
        }
        let outer = outer_quote(bytes, hit.start());
        let words = words(text, hit.start(), outer);
        if words.len() < 2 || words[0].value.len() < hit.len() {
            continue;
        }
        done = hit.end();
        let standing = standing(bytes, hit.start());
        let mut push = |word: &Word, part: Range<usize>, kind: Kind| {
            let Some(span) = word.written(part.clone()) else { return };
            if text.get(span.clone()).is_none() {
                return;
            }
            let mut one = Found::new(span.clone(), kind, Evidence::Context);
            let value = &word.value[part];
            if value != &text[span.clone()] {
                one.identity = Some(value.to_owned());
                one.aliases.push(text[span].to_owned());
            }
            found.push(one);
        };
        look(&words, &rules[owners[hit.pattern().as_usize()]], standing, &mut push);
    }
}

/// Finds the secrets in a command whose words are strings of their own. Returns the index of each word with the part of it.
pub(crate) fn find_in_words(words: &[Word]) -> Vec<(usize, Range<usize>, Kind)> {
    let (_, owners, rules) = &*NAMES;
    let mut found = Vec::new();
    let mut at = 0;
    for (first, word) in words.iter().enumerate() {
        let name = word.value.rsplit(['/', '\\']).next().unwrap_or_default();
        let name = name.strip_suffix(".exe").unwrap_or(name);
        let programs = PROGRAMS.iter().flat_map(|programs| programs.names).position(|known| *known == name);
        let Some(index) = programs.map(|at| owners[at]) else { continue };
        if first < at {
            continue;
        }
        at = first + 1;
        let command = &words[first..];
        look(command, &rules[index], Standing::Command, &mut |word, part, kind| {
            let offset = command.iter().position(|one| std::ptr::eq(one, word)).unwrap_or_default();
            found.push((first + offset, part, kind));
        });
    }
    found
}

/// Where the name of a program is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Standing {
    /// Where a command can begin.
    Command,
    /// In the middle of a line, which may be a sentence.
    Prose,
}

fn is_program(bytes: &[u8], name: Range<usize>) -> bool {
    let before = name.start.checked_sub(1).map(|at| bytes[at]);
    let behind = bytes.get(name.end).copied();
    let is_apart = before
        .is_none_or(|byte| !byte.is_ascii_alphanumeric() && !matches!(byte, b'-' | b'_' | b'.' | b'='))
        || name.start >= 2 && bytes[name.start - 2] == b'\\' && matches!(before, Some(b'n' | b't'));
    let is_ended = match behind {
        Some(b' ' | b'\t') => true,
        Some(b'.') => bytes[name.end..].starts_with(b".exe "),
        _ => false,
    };
    is_apart && is_ended
}

/// Returns whether a command can begin where the name of a program is.
pub(crate) fn is_command(bytes: &[u8], start: usize) -> bool {
    standing(bytes, start) == Standing::Command
}

fn standing(bytes: &[u8], start: usize) -> Standing {
    const LEADS: &[&[u8]] = &[
        b"sudo",
        b"time",
        b"exec",
        b"env",
        b"then",
        b"do",
        b"else",
        b"nohup",
        b"xargs",
        b"command",
        b"RUN",
        b"run:",
        b"-",
        b"-c",
        b"-lc",
        b"--",
        b"-it",
        b"-i",
        b"-n",
        b"if",
        b"!",
        b"%",
        b"$",
        b"#",
        b">",
        b"cmd:",
        b"command:",
        b"script:",
        b"watch",
        b"ssh",
    ];
    let line = &bytes[start.saturating_sub(200)..start];
    let line = &line[memchr::memrchr2(b'\n', b'\r', line).map_or(0, |at| at + 1)..];
    // A path may be before the name.
    let path = line
        .iter()
        .rev()
        .take_while(|byte| !byte.is_ascii_whitespace() && !matches!(byte, b'"' | b'\'' | b'`' | b'('))
        .count();
    let line = line[..line.len() - path].trim_ascii_end();
    let word = line.rsplit(|byte| byte.is_ascii_whitespace()).next().unwrap_or_default();
    let ends = matches!(
        line.last(),
        None | Some(
            b'|' | b';' | b'&' | b'(' | b'"' | b'\'' | b'`' | b'{' | b'$' | b'#' | b'>' | b'%' | b':' | b'[' | b','
        )
    );
    let is_assignment = || memchr::memchr(b'=', word).is_some();
    if ends || LEADS.contains(&word) || is_assignment() { Standing::Command } else { Standing::Prose }
}

/// Goes through the words of a command.
fn look(words: &[Word], rules: &[Rule], standing: Standing, push: &mut dyn FnMut(&Word, Range<usize>, Kind)) {
    let has = |condition: &str| condition.is_empty() || words.iter().any(|word| word.value == condition);
    let accepts = |word: &Word, part: Range<usize>, look: Look| {
        let value = &word.value[part];
        is_value(value)
            && (standing == Standing::Command || word.quoting == Quoting::Quoted || has_mark(value))
            && (look == Look::Any || is_announced(value) || is_strong(value) || is_password(value))
    };
    for rule in rules.iter().filter(|rule| has(rule.condition)) {
        match rule.place {
            Place::Operand(number) => {
                let operands: Vec<&Word> = words[1..].iter().filter(|word| !word.value.starts_with('-')).collect();
                let index = if number > 0 {
                    number as usize - 1
                } else {
                    operands.len().wrapping_sub(number.unsigned_abs() as usize)
                };
                // Subcommands come first.
                if let Some(word) = operands.get(index)
                    && (index > 0 || rule.look == Look::Key)
                {
                    if accepts(word, 0..word.value.len(), rule.look) {
                        push(word, 0..word.value.len(), PASSWORD);
                    } else if let Some((user, _)) = word.value.split_once(':')
                        && rule.look == Look::Key
                        && is_user(user)
                        && accepts(word, user.len() + 1..word.value.len(), Look::Key)
                    {
                        // `joe:...`: some settings have the user and the password in one value.
                        push(word, user.len() + 1..word.value.len(), PASSWORD);
                    }
                }
            }
            Place::Behind | Place::BehindPrefix(_) => {
                let is_it = |word: &Word| match rule.place {
                    Place::BehindPrefix(prefix) => word.value.starts_with(prefix),
                    _ => word.value == rule.condition,
                };
                for pair in words.windows(2).filter(|pair| is_it(&pair[0])) {
                    let word = &pair[1];
                    if !word.value.starts_with('-') && accepts(word, 0..word.value.len(), rule.look) {
                        push(word, 0..word.value.len(), PASSWORD);
                    }
                }
            }
            Place::Prefix(prefix) => {
                for word in &words[1..] {
                    let part = prefix.len()..word.value.len();
                    if word.value.starts_with(prefix) && accepts(word, part.clone(), rule.look) {
                        push(word, part, PASSWORD);
                    }
                }
            }
            Place::Option { option, gap, mark } => {
                for (at, word) in words.iter().enumerate().skip(1) {
                    let Some((word, from)) = value_of(words, at, word, option, gap) else { continue };
                    let value = &word.value[from..];
                    let start = match mark {
                        None => Some(0),
                        Some(mark) => memchr::memchr(mark, value.as_bytes()).map(|at| at + 1),
                    };
                    let Some(start) = start else { continue };
                    let part = from + start..word.value.len();
                    // The key is in the place of the user, and any text in the place of the password.
                    let is_key_of_user =
                        start > 1 && part.len() <= "x-oauth-basic".len() && is_strong(&value[..start - 1]);
                    if is_key_of_user {
                        push(word, from..from + start - 1, SECRET);
                    } else if accepts(word, part.clone(), rule.look) {
                        push(word, part, PASSWORD);
                    }
                }
            }
        }
    }
    named(words, &accepts, push);
}

/// Returns the word that has the value of an option, and where in it the value begins.
fn value_of<'w>(words: &'w [Word], at: usize, word: &'w Word, option: &str, gap: Gap) -> Option<(&'w Word, usize)> {
    let rest = word.value.strip_prefix(option);
    let is_long = option.starts_with("--");
    if rest == Some("") && gap != Gap::Attached {
        return words.get(at + 1).map(|next| (next, 0));
    }
    // `-sSu` is several options of one letter.
    let letter = option.as_bytes().get(1).copied();
    let is_bundle = option.len() == 2
        && gap == Gap::Either
        && word.value.len() > 2
        && word.value.len() <= 8
        && word.value.starts_with('-')
        && word.value.as_bytes().last().copied() == letter
        && word.value[1..].bytes().all(|byte| byte.is_ascii_alphabetic());
    if is_bundle {
        return words.get(at + 1).map(|next| (next, 0));
    }
    match rest {
        Some(rest) if rest.starts_with('=') && is_long => Some((word, option.len() + 1)),
        Some(rest) if !rest.is_empty() && !is_long && gap != Gap::NextWord => {
            Some((word, option.len() + usize::from(rest.starts_with('='))))
        }
        _ => None,
    }
}

/// Finds the values of options and members with telling names.
fn named(
    words: &[Word],
    accepts: &dyn Fn(&Word, Range<usize>, Look) -> bool,
    push: &mut dyn FnMut(&Word, Range<usize>, Kind),
) {
    for (at, word) in words.iter().enumerate().skip(1) {
        let value = word.value.as_str();
        let body = value.trim_start_matches(['-', '/']);
        let lead = value.len() - body.len();
        let body_of_property = body.strip_prefix(['D', 'P']).filter(|_| lead == 1 && body.contains('='));
        let (body, lead) = body_of_property.map_or((body, lead), |body| (body, lead + 1));
        // `--name=value`, `name=value`, and several of the latter with commas or spaces between.
        if let Some(first) = body.find('=') {
            let mut start = 0;
            let pieces: Vec<&str> = if body[first..].contains([',', ' ']) && body.matches('=').count() > 1 {
                body.split([',', ' ']).collect()
            } else {
                vec![body]
            };
            for piece in pieces {
                // `--from-literal=name=value`: only the last name belongs to the value.
                let mut from = 0;
                while let Some((name, of_piece)) = piece[from..].split_once('=') {
                    let last = name.rsplit(['.', '/', ':', '[']).find(|part| sensitive_name(part).is_some());
                    let is_nested = last.is_none()
                        && of_piece.split_once('=').is_some_and(|(name, _)| sensitive_name(name).is_some());
                    let value = from + name.len() + 1;
                    if is_nested {
                        from = value;
                        continue;
                    }
                    let span = lead + start + value..lead + start + piece.len();
                    push_named(word, span, last.unwrap_or(name), accepts, push);
                    break;
                }
                start += piece.len() + 1;
            }
        } else if lead > 0
            && value.starts_with('-')
            && body.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'))
            && let Some(next) = words.get(at + 1)
            && !next.value.starts_with('-')
        {
            push_named(next, 0..next.value.len(), body, accepts, push);
        } else if lead == 0
            && let Some(next) = words.get(at + 1)
            && let Some(name) = body.rsplit(['/', ':', '.']).next().filter(|name| is_spelt_like_name(name))
            && sensitive_name(name).is_some()
        {
            // `config set NAME value`.
            if accepts(next, 0..next.value.len(), Look::Key) {
                push(next, 0..next.value.len(), SECRET);
            }
        } else if let (Some((name, of_name)), true) = (body.split_once(':'), value.starts_with('/')) {
            push_named(word, lead + name.len() + 1..lead + name.len() + 1 + of_name.len(), name, accepts, push);
        }
    }
}

/// Returns whether a word is spelt as names of settings are, and not as words of sentences.
fn is_spelt_like_name(word: &str) -> bool {
    word.contains(['_', '-']) || word.bytes().any(|byte| byte.is_ascii_uppercase())
}

fn push_named(
    word: &Word,
    part: Range<usize>,
    name: &str,
    accepts: &dyn Fn(&Word, Range<usize>, Look) -> bool,
    push: &mut dyn FnMut(&Word, Range<usize>, Kind),
) {
    if part.is_empty() || part.end > word.value.len() {
        return;
    }
    let (kind, look) = match (sensitive_name(name), weak_name(name)) {
        (Some(kind), _) if kind == PASSWORD => (kind, Look::Any),
        (Some(kind), _) | (None, Some(kind)) => (kind, Look::Key),
        (None, None) => return,
    };
    if accepts(word, part.clone(), look) {
        push(word, part, kind);
    }
}

/// Returns whether a value has more than letters, so that it is no word of a sentence.
fn has_mark(value: &str) -> bool {
    value.bytes().any(|byte| byte.is_ascii_digit()) || is_announced(value)
}

/// Returns whether an argument is a value, and no reference, path or file.
fn is_value(value: &str) -> bool {
    let lower = value.to_lowercase();
    !stands_in(value)
        && is_plausible_password(value)
        && !value.contains("://")
        && !is_rooted_path(&lower)
        && !is_file(&lower)
        && !is_call(value)
        && !value.starts_with(['-', '@'])
        && !is_name_of_variable(value)
        && !(value.starts_with('$') && value[1..].bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_'))
}

/// Returns whether a value is the name of a variable that holds a secret.
fn is_name_of_variable(value: &str) -> bool {
    value.contains('_')
        && value.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_')
        && sensitive_name(value).is_some()
}

/// Returns whether a text has the name of a program in it that the table knows, with arguments after it.
pub(crate) fn trigger_words() -> impl Iterator<Item = &'static str> {
    PROGRAMS.iter().filter(|programs| !programs.rules.is_empty()).flat_map(|programs| programs.names).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(text: &str) -> Vec<String> {
        let mut found = Vec::new();
        find(text, &mut found);
        let mut values: Vec<String> =
            found.into_iter().map(|found| found.identity.unwrap_or_else(|| text[found.span].to_owned())).collect();
        // Two rules may find the same.
        values.dedup();
        values
    }

    #[test]
    fn arguments_that_are_secrets_are_found() {
        const SECRET: &str = "Vq7#xR2!mKp9";
        for text in [
            "mysql -u root -pSECRETVALUE shop",
            "mysqladmin -u root password 'SECRETVALUE'",
            "mongosh --host h -u a -p SECRETVALUE",
            "redis-cli -h c -a 'SECRETVALUE' ping",
            "openssl pkcs12 -in a -passin pass:SECRETVALUE -nodes",
            "openssl enc -aes-256-cbc -k 'SECRETVALUE' -in a",
            "curl -sSu admin:SECRETVALUE https://h",
            "curl --proxy-user=me:SECRETVALUE https://h",
            "http -a robin:SECRETVALUE GET https://h",
            "sshpass -pSECRETVALUE ssh h",
            "7z a -p'SECRETVALUE' x.7z d",
            "unzip -P SECRETVALUE x.zip",
            "keytool -list -storepass SECRETVALUE -keystore x",
            "sqlcmd -S h -U sa -P SECRETVALUE -Q x",
            "docker login -u me -p SECRETVALUE r.example.com",
            "htpasswd -nb admin SECRETVALUE",
            "smbclient //h/s -U 'CORP\\joe%SECRETVALUE'",
            "net use Z: \\\\h\\s /user:joe SECRETVALUE",
            "helm install x y --set auth.password=SECRETVALUE,mode=z",
            "kubectl create secret generic x --from-literal=db-password='SECRETVALUE'",
            "vault kv put secret/x user=a password=SECRETVALUE",
            "gh secret set NAME --body 'SECRETVALUE'",
            "wpa_passphrase office SECRETVALUE",
            "sudo /usr/bin/mosquitto_pub -t t -u a -P SECRETVALUE",
            "java -Djavax.net.ssl.keyStorePassword=SECRETVALUE -jar x",
            "mc alias set local http://h:9000 admin SECRETVALUE",
            "bash -c \"mysqldump -pSECRETVALUE x\"",
        ] {
            assert_eq!(values(&text.replace("SECRETVALUE", SECRET)), [SECRET], "{text}");
        }
        assert_eq!(values("redis-cli -a 'a'\\''Xb7#k' ping"), ["a'Xb7#k"]);
        assert_eq!(values("curl -u Gm9DICBo3UOkuULnEOEH:X https://h"), ["Gm9DICBo3UOkuULnEOEH"]);
        let words: Vec<Word> = ["curl", "-u", "me:Vq7#xR2!", "https://h"].map(Word::whole).into();
        let found = find_in_words(&words);
        assert_eq!(found.iter().map(|(at, part, _)| (*at, part.clone())).collect::<Vec<_>>(), [(2, 3..11)]);
    }

    #[test]
    fn programs_of_a_line_are_read_to_a_limit() {
        let line = |before: usize| format!("{}curl -u me:Vq7#xR2!mKp9 https://h", "curl x; ".repeat(before));
        assert_eq!(values(&line(MAX_PROGRAMS_OF_LINE - 1)), ["Vq7#xR2!mKp9"]);
        assert_eq!(values(&line(MAX_PROGRAMS_OF_LINE)), [""; 0]);
    }

    #[test]
    fn other_arguments_are_left() {
        for text in [
            "docker run -p 8080:80 image",
            "mysql -p -u root",
            "mysql -u root -p$PASSWORD shop",
            "curl -u user:password https://h",
            "curl -u \"$USER:$PASS\" https://h",
            "the zip -P option is not safe",
            "ldapsearch -x -b dc=x -s sub",
            "kubectl create secret generic db --from-file=password=./pw.txt",
            "ssh-keygen -N '' -f key",
            "git -P log",
            "openssl req -key server.key -passin file:pw.txt",
            "cargo login",
            "az login --service-principal -p \"$SECRET\"",
            "unzip -p archive.zip file",
        ] {
            assert_eq!(values(text), [""; 0], "{text}");
        }
    }
}
