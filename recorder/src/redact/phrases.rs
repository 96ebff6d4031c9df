//! Distinguishes passwords of ordinary words from labels, messages, identifiers and names of things.
//!
//! Both are words with marks between them. What tells them apart is the vocabulary: `meadow-copper-engine` has no word that
//! interfaces, messages or infrastructure are made of, `reset-form-label` has nothing else. It only counts where a name or a
//! grammar says that a password is there.

use std::collections::HashSet;
use std::sync::LazyLock;

use super::random::CODE_WORDS;

/// Fewest words of a passphrase.
const MIN_WORDS: usize = 3;

/// Fewest words of a passphrase of which one may be of the vocabulary.
const MIN_WORDS_WITH_ONE_COMMON: usize = 4;

/// Most words of a passphrase.
const MAX_WORDS: usize = 12;

/// Shortest and longest word of a passphrase.
const MIN_WORD_BYTES: usize = 3;
const MAX_WORD_BYTES: usize = 12;

/// Words that are common in interfaces, messages and names of infrastructure, in addition to [`CODE_WORDS`].
const VOCABULARY: &str = "\
    accent access account accounts action actions activate active adapter add address after again agent alert align \
    all already alternate always any apache argocd arrow assets attempt attempts attribute attributes authenticate \
    authentication authenticated authorization authorize authorized autocomplete avatar await back backend background \
    badge banner base based bash basic batch bcrypt bearer before begin best between binding block blocked blog bold \
    bool boolean border bot bottom bound branch broker browser bucket bucket build builder builtin bundle bytes cache \
    call callback can cancel cannot caption card cart case cell center central cert certificate certs channel char \
    chart chat check checkbox checked checker checkout child choose chosen cipher class classic clean clear click clone \
    close closed cloud code collapse collapsed collection color column columns command comment commit common company \
    compare component compose computed conf configmap configuration configure configured confirmation confirmed connect \
    connection connections consul contact container containers contains content context contract controller cookie copy \
    core correct correctly could count counter country cover creation criteria cron crypt cryptic css csv current currently \
    custom customer customers dark dashboard datasource date day debug decode decoder decrypt decrypted dedicated deleted \
    demo deny deployment deployments derive derived describe description desktop destroy detail details device dialog \
    different digest digit digits directory disable disabled dismiss display does domain done dotenv down download drawer \
    driver dropdown dummy dynamic each edit editor either elastic element email empty enable enabled encode encoded encoder \
    encrypt encrypted encryption end endpoint engineering enforce ensure entered entity entries entry environment \
    equal equals errors eval event events every exact exactly exceeded except existing exists exit expected expire expired \
    expires expiry export expression external extra eye failed fails failure false feature fetch fields files fill filled \
    filter final find first fixture flag flex float focus folder follow following font footer forbidden force forgot \
    forgotten format forms forward found framework free front frontend full fully future gateway general generate generated \
    generator generic give given global grafana graph graphql grid groups guest guide handle handled hashed hasher hashes \
    hashing have header heading headers health hello help helper hidden hide high hint history holder home hook hooks host \
    hostname hosts html icon icons identifier identity image img import incorrect index info inform information ingress \
    inherit init initial inline inner inputs insecure inside install instance instead integer integration interactive \
    interface into issue issuer items java javascript jenkins job json just jwt keep keychain keycloak keyring \
    keys keyword kibana kind know labels lambda language large last later latest layout layer leader least leave left \
    letter letters level library license light limit line lines link linked list listen listener literal live load loader \
    loading locale localhost location lock locked logged logger logic logo logout long low lower macro made mail \
    mailbox make managed manual many map mapping mark markdown mask masked master match matched matches matching max \
    maximum may media medium member memory menu merge messages meta metadata method metrics middle middleware migration min \
    minute missing mismatch mobile modal mode model modified modify more most mount move multi multiple muted mutation \
    must named names namespace native nav navbar navigation need needed needs network never new newest next nginx \
    none normal note notes notice notification null number numbers numeric oauth object off offline old oldest once one \
    only open opened operation operator opaque optional order orders organization origin other outer outline outlined output \
    outside over override owner package pages pagination panel parameter parameters parent parse parser partial partner \
    party passcode passed passes passkey passphrase passwd passwords pattern payment payments pending period permission \
    permissions person personal phone picker pipeline place placeholders plain plaintext platform plugin pod policies policy \
    pool popup port portal post prefix preview previous primary print private process product profile program \
    progress prometheus prompt prompted proper properties property protected protection protocol proxy publish pull push put \
    python query queue quick radio random range rate raw read reader readonly ready real reason recent record recover recovery \
    redirect reference refresh regex register registered registration registry rejected related relation release reload \
    remember remote remove removed rename render repeat replace replica replication report repository requests \
    require requirement requirements requires resend resets resource resources rest restore restricted result results resume \
    retry retype return returned reuse reveal revoke right roles room rotate rotation round route router routes row rows rule \
    rules run runner runtime safe salt same save saved say scale schedule schema scheme scope screen script scroll search \
    second secondary secrets section secure security see select selected selection selector send sender sensitive sent \
    separate sequence serial series services setting setup several shared sheet shell shop short should show shown side \
    sidebar sign signature signed signin signing signup simple single site size sizes skip small smtp snapshot social soft \
    software some source space special split sqlite ssl stack stage standard start started status step steps stop storage \
    stored strength strict strong stronger style styles submit success successful successfully suffix summary super \
    support supported switch switcher symbol symbols sync syntax tab table tables tabs tag tags target task team template \
    temp temporary tenant terms terraform testing tests than that theme then there these they thing this those three \
    time timeout times title tls toggle tokens too tool tools tooltip top total track traefik tree trigger true try two typed \
    types unable unauthorized unavailable unchanged undefined under unexpected unique unit unknown unlock until unused up \
    updated upgrade upload upper usage use used username users uses using util valid validate validated validator values \
    variable variables variant vendor verbose verified verifier verify visibility visible volume wait want warning was watch \
    weak webhook website week welcome were what when where which while white who width will window without wizard word words \
    work worker workers workflow workspace world would wrap wrapped wrapper write writer wrong year yes you zone";

/// Words for the place of use that passwords combine with one other word.
const PLACES: &[&str] = &[
    "admin",
    "app",
    "backup",
    "cluster",
    "data",
    "database",
    "db",
    "demo",
    "dev",
    "development",
    "eu",
    "internal",
    "local",
    "main",
    "mysql",
    "pg",
    "postgres",
    "pre",
    "preprod",
    "prod",
    "production",
    "qa",
    "redis",
    "replica",
    "root",
    "sandbox",
    "server",
    "service",
    "stage",
    "staging",
    "stg",
    "svc",
    "test",
    "uat",
    "us",
    "user",
    "vault",
    "web",
];

static WORDS: LazyLock<HashSet<&str>> =
    LazyLock::new(|| VOCABULARY.split_ascii_whitespace().chain(CODE_WORDS.iter().copied()).collect());

/// Returns whether a text is a password of ordinary words.
pub(crate) fn is_spoken(text: &str) -> bool {
    is_passphrase(text) || is_word_of_place(text)
}

/// Returns whether a text is a passphrase: three ordinary words or more with one mark between them, as `meadow-copper-engine`. Of
/// four words one may be of the vocabulary.
fn is_passphrase(text: &str) -> bool {
    let Some(mark) = text.bytes().find(|byte| !byte.is_ascii_alphabetic()) else { return false };
    if !matches!(mark, b'-' | b'_' | b'.' | b'+' | b'~' | b'!' | b'*' | b'#' | b'=' | b',' | b'%' | b'^') {
        return false;
    }
    let parts: Vec<&str> = text.trim_end_matches(['!', '?', '.', '*', '+']).split(char::from(mark)).collect();
    if !(MIN_WORDS..=MAX_WORDS).contains(&parts.len()) || !parts.iter().all(|part| is_word(part)) {
        return false;
    }
    let common = parts.iter().filter(|part| WORDS.contains(part.to_ascii_lowercase().as_str())).count();
    common <= usize::from(parts.len() >= MIN_WORDS_WITH_ONE_COMMON)
}

/// Returns whether a text is a word with a number and the name of where it is used, in any order: `spruce90-prod`.
fn is_word_of_place(text: &str) -> bool {
    if !(8..=64).contains(&text.len()) || !text.as_bytes()[0].is_ascii_alphabetic() {
        return false;
    }
    let (mut own, mut digits) = (0, 0);
    for part in text.trim_end_matches(['!', '?', '.', '*', '+']).split(['-', '_', '.', '@', '!', '#', '+']) {
        let stem = part.trim_end_matches(|c: char| c.is_ascii_digit());
        let of_part = part.len() - stem.len();
        if of_part > 6 {
            return false;
        }
        digits += of_part;
        let lower = stem.to_ascii_lowercase();
        if stem.is_empty() {
            if part.is_empty() {
                return false;
            }
        } else if PLACES.contains(&lower.as_str()) {
        } else if is_word(stem) && stem.len() > MIN_WORD_BYTES && !WORDS.contains(lower.as_str()) {
            own += 1;
        } else {
            return false;
        }
    }
    own > 0 && digits >= 2
}

/// Returns whether a text is pronounceable letters, all in lower case after the first.
fn is_word(text: &str) -> bool {
    let bytes = text.as_bytes();
    (MIN_WORD_BYTES..=MAX_WORD_BYTES).contains(&bytes.len())
        && bytes[0].is_ascii_alphabetic()
        && bytes[1..].iter().all(u8::is_ascii_lowercase)
        && bytes.iter().any(|byte| b"aeiouyAEIOUY".contains(byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passphrases_are_told_from_labels_and_names() {
        for text in [
            "meadow-copper-engine",
            "Dolphin-Cricket-Summer",
            "planet_autumn_ember",
            "cotton.velvet.salmon",
            "mango-table-tomato-panda",
            "lobster-tiger-bronze-monkey",
        ] {
            assert!(is_passphrase(text), "{text}");
        }
        for text in [
            "copper-lantern",
            "reset-form-label",
            "auth.login.title",
            "new-password-field",
            "shop-orders-database",
            "mdi-eye-outline",
            "current_user_record",
            "user-profile-avatar-zebra",
            "man-in-the-middle",
            "us-east-one",
            "must-contain-digits",
            "checkout-payments-tls",
            "a-b-c",
            "HTTP-ERROR-CODE",
        ] {
            assert!(!is_passphrase(text), "{text}");
        }
    }

    #[test]
    fn words_with_a_number_and_a_place_are_told_from_hosts() {
        for text in ["spruce90-prod", "orchid58-staging", "planet51-admin", "dev-tomato18", "Maple-2024-prod"] {
            assert!(is_word_of_place(text), "{text}");
        }
        for text in ["worker12-prod", "db-replica-02", "prod-2024", "spruce-prod", "node18-dev", "eu-west-1", "v1.22.3"]
        {
            assert!(!is_word_of_place(text), "{text}");
        }
    }
}
