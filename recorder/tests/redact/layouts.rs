//! Tests that secrets of every kind are redacted in every context, and in every layout in which tools print texts.
//!
//! The texts are made from tables of parts, so that the detectors are tested with combinations that nobody thought of. The
//! secrets that are left are counted per context and per layout.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rayon::prelude::*;
use serde_json::{Value, json};
use trace_recorder::redact::{Rules, redact_json};

use crate::noise::{ALNUM, BASE64, HEX, Noise};
use crate::planted::Planted;

/// Most secrets that may be left, per thousand.
const MAX_LEFT_PER_THOUSAND: usize = 10;

/// Number of texts that are made for each context.
const EACH: usize = 24;

/// Returns a password as password generators make them.
pub(crate) fn generated(noise: &mut Noise, marks: &str) -> String {
    let alphabet = format!("{ALNUM}{marks}{marks}");
    let length = 12 + noise.below(14);
    loop {
        let text = noise.text(&alphabet, length);
        let has = |test: fn(&u8) -> bool| text.as_bytes().iter().any(test);
        let is_mixed = has(u8::is_ascii_digit) && has(u8::is_ascii_lowercase) && has(u8::is_ascii_uppercase);
        // A text that begins with a mark may be a reference to a variable or an escape.
        if is_mixed && (marks.is_empty() || has(u8::is_ascii_punctuation)) && text.as_bytes()[0].is_ascii_alphanumeric()
        {
            return text;
        }
    }
}

/// Marks that need no escape in the respective context.
const IN_QUOTES: &str = "!@#%^&*()_+-=[]{}|;:,.<>?/~$";
const IN_LINE: &str = "!@#%^&*()_+-=[]{}|:,.<>?/~$;'";
const IN_WORD: &str = "!@#%^*_+-=.,:?~";
const IN_URL: &str = "!$*_-.~";

/// A function that makes the secret of a context. The secret replaces `@S@` in the text of the context.
type Make = fn(&mut Noise) -> String;

fn quoted(noise: &mut Noise) -> String {
    match noise.below(4) {
        0 => generated(noise, ""),
        1 => noise.text(HEX, 32),
        _ => generated(noise, IN_QUOTES),
    }
}

fn line(noise: &mut Noise) -> String {
    match noise.below(4) {
        0 => generated(noise, ""),
        _ => generated(noise, IN_LINE),
    }
}

fn word(noise: &mut Noise) -> String {
    if noise.below(3) == 0 { generated(noise, "") } else { generated(noise, IN_WORD) }
}

fn url(noise: &mut Noise) -> String {
    generated(noise, IN_URL)
}

fn ado(noise: &mut Noise) -> String {
    generated(noise, "!@#%^&*()_+-=[]|:,.?/~$'")
}

fn token(noise: &mut Noise) -> String {
    match noise.below(3) {
        0 => noise.text(HEX, 40),
        1 => noise.uuid(),
        _ => generated(noise, ""),
    }
}

fn long(noise: &mut Noise) -> String {
    let length = 32 + noise.below(30);
    noise.text(ALNUM, length)
}

fn key44(noise: &mut Noise) -> String {
    STANDARD.encode(noise.bytes(32))
}

fn spoken(noise: &mut Noise) -> String {
    const CONSONANTS: &[u8] = b"bdfgklmnprstvz";
    const VOWELS: &[u8] = b"aeiou";
    let mut letter = |letters: &[u8]| char::from(letters[noise.below(letters.len())]);
    (0..6).flat_map(|_| [letter(CONSONANTS), letter(VOWELS)]).collect()
}

/// Returns a password of words, as generators of passphrases make them.
fn worded(noise: &mut Noise) -> String {
    const WORDS: &[&str] =
        &["amber", "canyon", "velvet", "garlic", "comet", "bridge", "temple", "walnut", "harbor", "jasper"];
    let mark = ["-", "_", "."][noise.below(3)];
    let words: Vec<&str> = (0..4).map(|_| WORDS[noise.below(WORDS.len())]).collect();
    format!("{}{mark}{}", words.join(mark), 10 + noise.below(90))
}

/// Returns a password as people make them.
fn human(noise: &mut Noise) -> String {
    const WORDS: &[&str] = &["Amber", "Canyon", "Velvet", "Garlic", "Comet", "Bridge", "Temple", "Walnut"];
    let mark = ["!", "@", "#", "&", "*"][noise.below(5)];
    let (first, second) = (WORDS[noise.below(WORDS.len())], WORDS[noise.below(WORDS.len())]);
    format!("{first}{mark}{second}{}{}", 100 + noise.below(9000), ["!", "?", "+", ""][noise.below(4)])
}

fn data64(noise: &mut Noise) -> String {
    let value = generated(noise, IN_QUOTES);
    STANDARD.encode(value)
}

fn hash6(noise: &mut Noise) -> String {
    const CRYPT: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789./";
    format!("$6${}${}", noise.text(ALNUM, 12), noise.text(CRYPT, 86))
}

fn hash2(noise: &mut Noise) -> String {
    format!("$2b$12${}", noise.text(ALNUM, 53))
}

fn xprv(noise: &mut Noise) -> String {
    format!("xprv{}", noise.text("123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz", 107))
}

fn guid(noise: &mut Noise) -> String {
    noise.uuid()
}

/// A password that somebody can remember: words, some with digits for letters, a mark and a number.
fn memorable(noise: &mut Noise) -> String {
    const WORDS: &[&str] = &["walnut", "j4sper", "Harbor", "lantern", "tul1p", "Meadow", "violin", "c0bra"];
    let (first, second) = (WORDS[noise.below(WORDS.len())], WORDS[noise.below(WORDS.len())]);
    let mark = ["-", "_", ".", "+", "*", "@"][noise.below(6)];
    format!("{first}{mark}{second}{}{}", ["-", ""][noise.below(2)], 10 + noise.below(9990))
}

fn password(noise: &mut Noise) -> String {
    if noise.below(3) == 0 { generated(noise, "") } else { memorable(noise) }
}

pub(crate) const CONTEXTS: &[(&str, &str, Make)] = &[
    ("remembered", "password: @S@\n", memorable),
    ("remembered", "cfg.Password = \"@S@\"\n", memorable),
    ("remembered", "cache.internal:6380,password=@S@,ssl=True\n", memorable),
    ("remembered", "{\"mail\": {\"user\": \"joe\", \"pass\": \"@S@\"}}", memorable),
    ("remembered", "auth: { user: 'joe', pass: '@S@' },\n", memorable),
    ("remembered", "Settings { user: Some(\"app\"), password: Some(\"@S@\") }", memorable),
    ("replaced", "  ~ admin_password = \"x\" -> \"@S@\"\n", password),
    ("joined", "const secretKey = ['ab', '@S@'].join('');", |n| generated(n, "")),
    ("cdata", "<password><![CDATA[@S@]]></password>", password),
    ("registry", "    DefaultPassword    REG_SZ    @S@\n    AutoAdminLogon    REG_SZ    1\n", password),
    ("key of a name", "[\n  {\n    \"keyName\": \"key2\",\n    \"value\": \"@S@\"\n  }\n]", key44),
    ("group", "acl { tokens { agent = \"@S@\" } }", |n| n.uuid()),
    ("piped", "echo '@S@' | npx tool secret put SIGNING_SECRET", token),
    ("written", "echo '@S@' > ~/.vault_pass", password),
    ("asked", "S: 334 UGFzc3dvcmQ6\nC: @S@\nS: 235 ok\n", |n| STANDARD.encode(memorable(n))),
    ("said", "Login credentials for the shop are root / @S@ (read only).", password),
    ("said", "- **User:** root\n- **Password:** @S@\n", password),
    ("said", "La contraseña del servidor es: @S@\n", password),
    ("said", "密码是 @S@\n", memorable),
    ("said", "rotate the cache password (currently @S@)\n", memorable),
    ("said", "When asked for the password, enter `@S@`\n", |n| n.text(HEX, 32)),
    ("said", "Password for the admin user was reset.\nNew value: @S@\n", password),
    ("printed", "$ bitcoin-cli dumpprivkey bc1qxyz\n@S@\n", |n| format!("{}7Kx", n.text(ALNUM, 48))),
    ("line", "user=app\npassword=@S@\nport=5432\n", line),
    ("line", "user: app\npassword: @S@\nport: 5432\n", line),
    ("line", "[db]\nuser = app\npassword = @S@\nport = 1\n", line),
    ("line", "spring.datasource.password=@S@\nspring.jpa.show-sql=false\n", line),
    ("line", "MAIL_HOST=mx\nMAIL_PASSWORD=@S@\nMAIL_PORT=25\n", line),
    ("line", "export API_TOKEN=@S@\n", word),
    ("line", "  smtp_pass: @S@\n", line),
    ("libpq", "psql \"host=db.internal port=5432 dbname=shop user=app password=@S@ sslmode=require\"\n", ado),
    ("libpq", "host=db user=app password='@S@' dbname=shop", |n| generated(n, "!@#%^&*()_+-=[]|:,.?/~$;")),
    ("libpq", "dsn = 'user=app password=@S@ host=db'", word),
    ("ado", "Server=db;Database=shop;User Id=app;Password=@S@;Encrypt=True", ado),
    ("ado", "var c = \"Server=db;Uid=app;Pwd=@S@;\";", ado),
    ("ado", "Driver={PostgreSQL};Server=db;Uid=app;Pwd={@S@};", |n| generated(n, "!@#%^&*()_+-=;:,.?/~$")),
    (
        "web.config",
        "<add name=\"Db\" connectionString=\"Data Source=db;Initial Catalog=x;User ID=app;Password=@S@\" providerName=\"x\"/>",
        |n| generated(n, "!@#%^*()_+-=[]|:,.?/~$"),
    ),
    ("web.config", "<add key=\"SmtpPassword\" value=\"@S@\" />", |n| generated(n, "!@#%^*()_+-=[]|;:,.?/~$")),
    ("web.config", "<machineKey validationKey=\"@S@\" decryptionKey=\"AutoGenerate\"/>", |n| {
        n.text("0123456789ABCDEF", 64)
    }),
    ("xml", "<server><username>ci</username><password>@S@</password></server>", |n| {
        generated(n, "!@#%^*()_+-=[]|;:,.?/~$")
    }),
    ("xml", "<property name=\"hibernate.connection.password\">@S@</property>", spoken),
    ("xml", "<string name=\"api_key\">@S@</string>", token),
    ("xml", "<key>ApiSecret</key>\n<string>@S@</string>", quoted_xml),
    ("php", "define('DB_PASSWORD', '@S@');", quoted),
    ("php", "define( \"AUTH_KEY\", \"@S@\" );", quoted),
    ("php", "$cfg['password'] = '@S@';", quoted),
    ("php", "'password' => '@S@',", quoted),
    ("php", "$db = new mysqli('localhost', 'app', '@S@', 'shop');", quoted),
    ("sql", "CREATE USER 'app'@'%' IDENTIFIED BY '@S@';", quoted),
    ("sql", "ALTER USER app WITH PASSWORD '@S@';", quoted),
    ("sql", "CREATE ROLE app LOGIN ENCRYPTED PASSWORD '@S@' VALID UNTIL 'infinity';", spoken),
    ("sql", "CREATE LOGIN app WITH PASSWORD = N'@S@', CHECK_POLICY = OFF;", quoted),
    ("sql", "GRANT ALL ON *.* TO 'app' IDENTIFIED BY \"@S@\";", quoted),
    ("sql", "create user app identified by @S@;", |n| generated(n, "_#$").replace('$', "x")),
    ("cloudformation", "Parameters:\n  - ParameterKey: DBPassword\n    ParameterValue: @S@\n", word),
    (
        "cloudformation",
        "aws cloudformation deploy --parameters ParameterKey=DbPassword,ParameterValue=@S@ --stack-name x",
        |n| generated(n, ""),
    ),
    ("cloudformation", "{\"ParameterValue\": \"@S@\", \"ParameterKey\": \"MasterUserPassword\"}", quoted),
    ("cloudformation", "  MasterUserPassword: '@S@'", quoted),
    ("aws", "aws configure set aws_secret_access_key @S@", |n| n.text(BASE64, 40)),
    ("aws", "[default]\naws_access_key_id = x\naws_secret_access_key = @S@\n", |n| n.text(BASE64, 40)),
    ("aws", "aws secretsmanager create-secret --name prod/db/password --secret-string '@S@'", quoted),
    ("cookie", "Cookie: theme=dark; session=@S@; lang=en", long),
    ("cookie", "Set-Cookie: connect.sid=@S@; Path=/; HttpOnly", long),
    ("cookie jar", "# Netscape HTTP Cookie File\n.example.com\tTRUE\t/\tTRUE\t1790000000\tsession\t@S@\n", long),
    ("cookie jar", "#HttpOnly_.example.com\tTRUE\t/\tFALSE\t0\tauth\t@S@\n", long),
    ("cookie", "curl -b 'sid=@S@' https://example.com/", long),
    ("cookie", "[{\"name\":\"sessionid\",\"value\":\"@S@\",\"domain\":\"x.example\"}]", long),
    ("curl", "curl -u admin:@S@ https://example.com/", word),
    ("curl", "curl -sS --user 'admin:@S@' https://example.com/", quoted),
    ("curl", "curl -X POST -H \"X-Api-Key: @S@\" https://example.com/", token),
    ("curl", "curl -d 'user=a&password=@S@' https://example.com/login", |n| generated(n, "!@*_-.")),
    ("header", "Authorization: ApiKey @S@", long),
    ("header", "authorization: GenieKey @S@", guid),
    ("header", "Authorization: Token token=@S@", long),
    ("header", "-H 'Authorization: SSWS @S@'", long),
    ("header", "{\"Authorization\": \"Key @S@\"}", long),
    ("header", "x-vault-token: @S@", long),
    ("header", "PRIVATE-TOKEN: @S@", long),
    ("header", "Ocp-Apim-Subscription-Key: @S@", |n| n.text(HEX, 32)),
    ("kubernetes", "apiVersion: v1\nkind: Secret\nmetadata:\n  name: db\nstringData:\n  pin-code-x: \"@S@\"\n", quoted),
    (
        "kubernetes",
        "apiVersion: v1\nkind: Secret\nmetadata:\n  name: db\ntype: Opaque\ndata:\n  password: @S@\n",
        data64,
    ),
    ("kubernetes", "apiVersion: v1\ndata:\n  config: @S@\nkind: Secret\n", data64),
    ("kubernetes", "{\"kind\":\"Secret\",\"apiVersion\":\"v1\",\"data\":{\"x\":\"@S@\"}}", data64),
    ("kubernetes", "kubectl create secret generic db --from-literal=password=@S@", word),
    ("yaml block", "password: |\n  @S@\nuser: app\n", line),
    ("yaml block", "db:\n  password: >-\n    @S@\n  user: app\n", line),
    ("yaml block", "api_key:\n  @S@\n", token),
    ("siblings", "env:\n  - name: DB_PASSWORD\n    value: \"@S@\"\n  - name: MODE\n    value: x\n", quoted),
    ("siblings", "env:\n  - value: @S@\n    name: API_TOKEN\n", word),
    ("siblings", "{\"value\": \"@S@\", \"type\": \"x\", \"name\": \"CLIENT_SECRET\"}", quoted),
    ("siblings", "environment_variable {\n  name  = \"DB_PASSWORD\"\n  value = \"@S@\"\n}\n", quoted),
    ("siblings", "set {\n  value = \"@S@\"\n  name  = \"auth.password\"\n}\n", quoted),
    ("siblings", "<Parameter name=\"dbPassword\" value=\"@S@\"/>", |n| generated(n, "!@#%^*()_+-=;:,.?/~$")),
    ("siblings", "<entry><key>db.password</key><value>@S@</value></entry>", spoken),
    ("multipart", "--b\nContent-Disposition: form-data; name=\"password\"\n\n@S@\n--b--\n", line),
    ("multipart", "--b\r\nContent-Disposition: form-data; name=\"api_key\"\r\n\r\n@S@\r\n--b--\r\n", token),
    ("sudo", "echo '@S@' | sudo -S apt-get update", quoted),
    ("sudo", "echo @S@ | sudo -kS ls", |n| generated(n, "!@%_+=.:")),
    ("sudo", "printf '%s\\n' '@S@' | sudo -S -p '' id", quoted),
    ("sudo", "sudo -S whoami <<< \"@S@\"", |n| generated(n, "!@%_+=.:")),
    ("stdin", "echo \"@S@\" | docker login -u me --password-stdin registry.example.com", |n| generated(n, "!@%_+=.:")),
    ("pgpass", "db.internal:5432:shop:app:@S@\n", |n| generated(n, "!@#%^*()_+-=;,.?/~$")),
    ("pgpass", "*:*:*:app:@S@\n", spoken),
    ("netrc", "machine api.example.com login me password @S@\n", word),
    ("shadow", "root:@S@:19700:0:99999:7:::\n", hash6),
    ("shadow", "admin:@S@\n", hash2),
    ("shadow", "INSERT INTO users VALUES (1, 'a@b.c', '@S@');", hash2),
    ("wireguard", "[Interface]\nPrivateKey = @S@\nAddress = 10.0.0.2/32\n", key44),
    ("wireguard", "[Peer]\nPresharedKey = @S@\n", key44),
    ("wireguard", "$ wg genkey\n@S@\n", key44),
    ("wallet", "exported @S@ for m/44", xprv),
    ("vault", "Unseal Key 1: @S@\nUnseal Key 2: x\n", |n| STANDARD.encode(n.bytes(33))),
    ("vault", "{\"unseal_keys_b64\": [\"@S@\"], \"unseal_shares\": 1}", |n| STANDARD.encode(n.bytes(33))),
    ("vault", "vault operator unseal @S@", |n| STANDARD.encode(n.bytes(33))),
    ("vault", "Initial Root Token: s.@S@", |n| n.text(ALNUM, 24)),
    ("dsn", "postgresql://app:@S@@db.internal:5432/shop?sslmode=require", url),
    ("dsn", "redis://:@S@@cache:6379/0", url),
    ("dsn", "amqp://app:@S@@mq/vhost", url),
    ("dsn", "mongodb+srv://app:@S@@c0.abcde.mongodb.net/shop", url),
    ("dsn", "app:@S@@tcp(db:3306)/shop?parseTime=true", url),
    ("dsn", "https://@S@@o447951.ingest.sentry.io/5429219", |n| n.text(HEX, 32)),
    ("dsn", "jdbc:postgresql://db/shop?user=app&password=@S@", url),
    ("dsn", "jdbc:oracle:thin:app/@S@@db:1521:XE", |n| generated(n, "_#")),
    ("webhook", "https://hooks.slack.com/services/@S@", |n| {
        format!(
            "T{}/B{}/{}",
            n.text("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", 10),
            n.text("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", 10),
            n.text(ALNUM, 24)
        )
    }),
    ("webhook", "https://discord.com/api/webhooks/1234567890123456789/@S@", |n| n.text(ALNUM, 68)),
    ("webhook", "https://acme.webhook.office.com/webhookb2/@S@", |n| {
        format!("{}@{}/IncomingWebhook/{}/{}", n.uuid(), n.uuid(), n.text(HEX, 32), n.uuid())
    }),
    ("webhook", "https://maker.ifttt.com/trigger/x/with/key/@S@", |n| n.text(ALNUM, 43)),
    ("file name", "wrote /home/me/keys/token_@S@.txt", |n| format!("{}_{}", "ghp", n.text(ALNUM, 36))),
    ("file name", "-rw------- 1 me me 40 backup-@S@-old.json", |n| {
        format!("AKIA{}", n.text("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 16))
    }),
    ("code", "client = Client(api_key=\"@S@\")", token),
    ("code", "auth = HTTPBasicAuth('admin', '@S@')", quoted),
    ("code", "os.environ['DB_PASSWORD'] = '@S@'", quoted),
    ("code", "os.Setenv(\"API_TOKEN\", \"@S@\")", token),
    ("code", "const char *password = \"@S@\";", quoted),
    ("code", "config.setPassword(\"@S@\");", quoted),
    ("code", "$env:CLIENT_SECRET='@S@'", quoted),
    ("code", "ConvertTo-SecureString '@S@' -AsPlainText -Force", quoted),
    ("option", "tool --password '@S@' --now", quoted),
    ("option", "tool --token=@S@ --now", token),
    ("option", "mysql -uapp -p@S@ shop", |n| generated(n, "!@%_+=.:")),
    ("option", "sshpass -p '@S@' ssh host", quoted),
    ("option", "helm upgrade x --set auth.password=@S@", |n| generated(n, "!@%_+.:")),
    // Arguments of commands.
    ("argument", "curl --proxy-user 'me:@S@' https://example.com/", quoted),
    ("argument", "curl -u @S@:X https://example.com/api", |n| n.text(HEX, 32)),
    ("argument", "http -a me:@S@ GET https://example.com/me", word),
    ("argument", "openssl enc -aes-256-cbc -k '@S@' -in a", word),
    ("argument", "openssl pkcs12 -in a -passin pass:@S@ -nodes", word),
    ("argument", "redis-cli -h cache -a '@S@' ping", word),
    ("argument", "mongosh --host db -u app -p @S@", word),
    ("argument", "ldapsearch -x -D cn=a -w @S@ -b dc=x", word),
    ("argument", "smbclient //nas/s -U 'backup%@S@'", word),
    ("argument", "7z a -p@S@ -mhe=on a.7z d", word),
    ("argument", "zip -r -P @S@ a.zip d", word),
    ("argument", "gpg --batch --passphrase '@S@' -c f", word),
    ("argument", "keytool -list -storepass @S@ -keystore a.jks", word),
    ("argument", "sqlcmd -S db -U sa -P @S@ -Q x", word),
    ("argument", "docker login -u me -p @S@ registry.example.com", word),
    ("argument", "vault kv put secret/db user=app password=@S@", word),
    ("argument", "gh secret set NAME --body '@S@'", token),
    ("argument", "wpa_passphrase office @S@", word),
    ("argument", "pulumi config set --secret dbPassword @S@", |n| generated(n, "")),
    ("argument", "npm config set //registry.example.com/:_authToken @S@", long),
    ("argument", "java -Djavax.net.ssl.keyStorePassword=@S@ -jar a.jar", word),
    ("argument", "htpasswd -nb admin @S@", word),
    ("argument", "{\"command\": [\"curl\", \"-u\", \"me:@S@\", \"https://example.com\"]}", quoted),
    // Output of commands.
    ("output", "$ gh auth token\n@S@\n", long),
    ("output", "$ kubectl get secret db -o jsonpath='{.data.password}' | base64 -d; echo\n@S@\n", word),
    ("output", "$ vault kv get -field=password secret/db\n@S@\n", word),
    ("output", "$ openssl rand -base64 32\n@S@\n", key44),
    // Tables.
    ("table", "| User | Password |\n|------|----------|\n| joe | @S@ |\n", word),
    (
        "table",
        "+------+----------------+\n| user | password       |\n+------+----------------+\n| joe  | @S@ |\n+------+----------------+\n",
        word,
    ),
    ("table", "Key         Value\n---         -----\npassword    @S@\nusername    app\n", word),
    ("table", "User Name,Access Key Id,Secret Access Key\nci,x,@S@\n", |n| n.text(BASE64, 40)),
    ("table", "{\"columns\": [\"user\", \"password\"], \"rows\": [[\"joe\", \"@S@\"]]}", quoted),
    ("table", "{\"client_secret\": {\"value\": \"@S@\", \"expires\": 1}}", quoted),
    // Secrets that look like words.
    ("words", "admin_password = @S@\n", worded),
    ("words", "Generated password for 'admin': @S@\n", worded),
    ("words", "{\"password\": \"@S@\"}", human),
    ("words", "[security]\nadmin_password = \"\"\"@S@\"\"\"\n", human),
    ("words", "A temporary password is generated for root@localhost: @S@\n", human),
    ("words", "log in as joe with password @S@ for now", worded),
    ("words", "- **Username**: admin\n- **Password**: `@S@`\n", worded),
    ("words", "Credentials: admin / @S@\n", human),
    // Settings with their own grammar.
    ("setting", "bind 0.0.0.0\nrequirepass @S@\nmaxmemory 1gb\n", word),
    ("setting", "rootpw --plaintext @S@\n", word),
    ("setting", "binddn cn=proxy\nbindpw @S@\n", word),
    ("setting", "machine db\nuser joe password @S@\n", word),
    ("setting", "tacacs-server key @S@\n", word),
    ("setting", "WIFI:T:WPA;S:office;P:@S@;;", |n| generated(n, "!@#%^*_+-=.?")),
    ("setting", "a1 LOGIN joe \"@S@\"\n", quoted),
    ("setting", "---> PASS @S@\n", word),
    ("setting", "[\"password\"]=>\n  string(16) \"@S@\"\n", quoted),
    ("setting", "password = <<EOF\n@S@\nEOF\n", word),
    // Code.
    ("call", "jwt.sign({ id: 1 }, '@S@', { expiresIn: '1h' })", token),
    ("call", "client.connect('host', 22, 'joe', '@S@')", quoted),
    ("call", "f = Fernet(b'@S@')", key44),
    ("call", "page.fill('#password', '@S@')", quoted),
    ("call", "password = os.getenv('DB_PASSWORD', '@S@')", quoted),
    ("call", "#define WIFI_PASSWORD \"@S@\"", quoted),
    // Addresses and headers.
    ("address", "https://b.s3.amazonaws.com/k?X-Amz-Expires=900&X-Amz-Signature=@S@", |n| n.text(HEX, 64)),
    ("address", "https://prod.logic.azure.com/workflows/a/triggers/manual/paths/invoke?sp=x&sig=@S@", long),
    ("address", "https://n8n.example.com/webhook/@S@", guid),
    ("address", "https://mainnet.infura.io/v3/@S@", |n| n.text(HEX, 32)),
    ("address", "https://hc-ping.com/@S@", guid),
    ("header", "Authorization: AWS4-HMAC-SHA256 Credential=x/aws4_request, SignedHeaders=host, Signature=@S@", |n| {
        n.text(HEX, 64)
    }),
    (
        "header",
        "Authorization: Digest username=\"joe\", realm=\"r\", nonce=\"8d1c\", uri=\"/\", response=\"@S@\"",
        |n| n.text(HEX, 32),
    ),
    ("header", "X-Metabase-Session: @S@", guid),
    ("header", "X-JFrog-Art-Api: @S@", long),
    ("header", "{\"routing_key\": \"@S@\", \"event_action\": \"trigger\"}", |n| n.text(HEX, 32)),
    ("header", "CYPRESS_RECORD_KEY=@S@\n", guid),
    ("wallet", "$ oathtool --totp -b @S@\n", |n| n.text("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 32)),
    ("wallet", "backup:\n@S@\n", |_| {
        "ozone drill grab fiber curtain grace pudding thank cruise elder eight picnic".to_owned()
    }),
    ("said", "The generated password for admin is: @S@", |n| generated(n, "!@#%^*_+-=")),
    ("said", "Password: @S@\n", line),
];

fn quoted_xml(noise: &mut Noise) -> String {
    generated(noise, "!@#%^*()_+-=;:,.?/~$")
}

/// A function that prints a text in a layout.
type Layout = fn(&str) -> String;

fn each_line(text: &str, line: impl Fn(usize, &str) -> String) -> String {
    text.lines().enumerate().map(|(at, text)| line(at + 1, text) + "\n").collect()
}

pub(crate) const LAYOUTS: &[(&str, Layout)] = &[
    ("plain", |text| text.to_owned()),
    ("cat -n", |text| each_line(text, |at, line| format!("{at:6}\t{line}"))),
    ("nl", |text| each_line(text, |at, line| format!("{at:>4} | {line}"))),
    ("grep -n", |text| each_line(text, |at, line| format!("{at}:{line}"))),
    ("grep -rn", |text| each_line(text, |at, line| format!("config/app.env:{at}:{line}"))),
    ("bat", |text| each_line(text, |at, line| format!("  {at:>3} │ {line}"))),
    ("diff +", |text| each_line(text, |_, line| format!("+{line}"))),
    ("diff -", |text| each_line(text, |_, line| format!("-{line}"))),
    ("quote", |text| each_line(text, |_, line| format!("> {line}"))),
    ("hash comment", |text| each_line(text, |_, line| format!("# {line}"))),
    ("slash comment", |text| each_line(text, |_, line| format!("    // {line}"))),
    ("indent", |text| each_line(text, |_, line| format!("        {line}"))),
    ("log", |text| each_line(text, |at, line| format!("2026-03-04T05:06:{:02}.123456Z {line}", at % 60))),
    ("compose", |text| each_line(text, |_, line| format!("web-1  | {line}"))),
    ("bracket log", |text| each_line(text, |_, line| format!("[2026-03-04 05:06:07] INFO {line}"))),
    ("syslog", |text| each_line(text, |_, line| format!("Mar  4 05:06:07 host app[123]: {line}"))),
    ("box", |text| each_line(text, |_, line| format!("│ {line:<80} │"))),
    ("colour", |text| each_line(text, |_, line| format!("\u{1b}[32m{line}\u{1b}[0m"))),
    ("coloured value", |text| {
        each_line(text, |_, line| match line.find(['=', ':']) {
            Some(at) if !line[at..].starts_with("://") => {
                format!("\u{1b}[1;34m{}\u{1b}[0m{}\u{1b}[33m{}\u{1b}[0m", &line[..at], &line[at..=at], &line[at + 1..])
            }
            _ => line.to_owned(),
        })
    }),
    ("escaped", |text| json!({ "log": text }).to_string()),
    ("escaped in prose", |text| format!("got {} back", json!({ "log": text }))),
    ("escaped twice", |text| format!("got {} back", json!({ "log": json!({ "x": text }).to_string() }))),
    ("crlf", |text| text.replace("\r\n", "\n").replace('\n', "\r\n")),
    ("read", |text| each_line(text, |at, line| format!("{at}→{line}"))),
];

fn redacted(document: &Value) -> String {
    String::from_utf8(redact_json(document.to_string().as_bytes(), &Rules::default())).expect("UTF-8")
}

/// Returns whether a secret is in a redacted text, in any of four levels of escaping.
pub(crate) fn is_left(redacted: &str, secret: &str) -> bool {
    let mut spelling = secret.to_owned();
    (0..4).any(|_| {
        let is_there = redacted.contains(&spelling);
        let quoted = json!(spelling).to_string();
        spelling = quoted[1..quoted.len() - 1].to_owned();
        is_there
    })
}

struct Case {
    context: &'static str,
    layout: &'static str,
    secret: String,
    text: String,
}

fn cases() -> Vec<Case> {
    let mut noise = Noise::new(4711);
    let mut cases = Vec::new();
    for (index, (context, text, make)) in CONTEXTS.iter().enumerate() {
        for at in 0..EACH {
            let (layout, lay_out) = LAYOUTS[(index + at) % LAYOUTS.len()];
            let secret = make(&mut noise);
            let text = lay_out(&text.replace("@S@", &secret));
            cases.push(Case { context, layout, secret, text });
        }
    }
    cases
}

#[test]
fn secrets_of_every_context_are_found_in_every_layout() {
    let cases = cases();
    let left: Vec<&Case> =
        cases.par_iter().filter(|case| is_left(&redacted(&json!({ "output": case.text })), &case.secret)).collect();
    let mut by_context: BTreeMap<&str, usize> = BTreeMap::new();
    let mut by_layout: BTreeMap<&str, usize> = BTreeMap::new();
    for case in &left {
        *by_context.entry(case.context).or_default() += 1;
        *by_layout.entry(case.layout).or_default() += 1;
    }
    let examples: Vec<_> = left.iter().take(400).map(|case| (case.context, case.layout, &case.text)).collect();
    assert!(
        left.len() * 1000 <= cases.len() * MAX_LEFT_PER_THOUSAND,
        "{} of {} left: {by_context:?} {by_layout:?} {examples:#?}",
        left.len(),
        cases.len()
    );
}

/// Makes a secret in each context, each in another layout, and a private key in each layout.
pub(crate) fn planted(noise: &mut Noise) -> Vec<Planted> {
    let first = noise.below(LAYOUTS.len());
    let mut all: Vec<Planted> = Vec::new();
    for (index, (_, text, make)) in CONTEXTS.iter().enumerate() {
        let secret = make(noise);
        let text = LAYOUTS[(first + index) % LAYOUTS.len()].1(&text.replace("@S@", &secret));
        all.push(Planted { kind: "password", secret: vec![secret], text });
    }
    for (_, lay_out) in LAYOUTS.iter().chain(KEY_LAYOUTS).filter(|(name, _)| !matches!(*name, "url" | "hexdump")) {
        let (lines, text) = key(noise);
        let text = lay_out(&text);
        let secret = lines.into_iter().filter(|line| line.len() > 24 && text.contains(line.as_str())).collect();
        all.push(Planted { kind: "private-key", secret, text });
    }
    all
}

/// Returns the lines of a private key that looks real, and its text.
fn key(noise: &mut Noise) -> (Vec<String>, String) {
    let encoded = STANDARD.encode(noise.bytes(48 * 6 + 20));
    let lines: Vec<String> =
        encoded.as_bytes().chunks(64).map(|line| String::from_utf8(line.to_vec()).expect("ASCII")).collect();
    let label = ["RSA ", "OPENSSH ", "EC ", "", "ENCRYPTED "][noise.below(5)];
    let text =
        format!("-----BEGIN {label}PRIVATE {0}-----\n{1}\n-----END {label}PRIVATE {0}-----\n", "KEY", lines.join("\n"));
    (lines, text)
}

/// Layouts that are used only for keys.
const KEY_LAYOUTS: &[(&str, Layout)] = &[
    ("plus", |text| each_line(text, |_, line| format!("    \"{line}\\n\" +"))),
    ("dot", |text| each_line(text, |_, line| format!("  '{line}' . \"\\n\" ."))),
    ("adjacent", |text| each_line(text, |_, line| format!("\"{line}\\n\""))),
    ("backslash", |text| each_line(text, |_, line| format!("{line}\\n\\"))),
    ("append", |text| each_line(text, |_, line| format!("key += \"{line}\\n\";"))),
    ("builder", |text| each_line(text, |_, line| format!("sb.append(\"{line}\").append('\\n');"))),
    ("visual basic", |text| each_line(text, |_, line| format!("  \"{line}\" & vbLf & _"))),
    ("array", |text| format!("[\n{}]", each_line(text, |_, line| format!("  \"{line}\",")))),
    ("array in a line", |text| json!(text.lines().collect::<Vec<_>>()).to_string()),
    ("yaml list", |text| each_line(text, |_, line| format!("  - {line}"))),
    ("yaml block", |text| format!("key: |\n{}", each_line(text, |_, line| format!("  {line}")))),
    ("table", |text| each_line(text, |at, line| format!("| {at} | {line} |"))),
    ("echo", |text| each_line(text, |_, line| format!("echo '{line}' >> key.pem"))),
    ("xtrace", |text| each_line(text, |_, line| format!("+ echo {line}"))),
    ("blanks", |text| text.trim_end().replace('\n', " ")),
    ("escaped", |text| text.replace('\n', "\\n")),
    ("escaped twice", |text| text.replace('\n', "\\\\n")),
    ("escaped thrice", |text| text.replace('\n', "\\\\\\\\n")),
    ("url", |text| text.replace('+', "%2B").replace('\n', "%0A").replace(' ', "%20")),
    ("html", |text| text.replace('\n', "<br>\n")),
    ("diff numbered", |text| each_line(text, |at, line| format!("{at:4} {:4} +{line}", at + 3))),
    ("blame", |text| each_line(text, |at, line| format!("3f2a9c1b (Ann B 2026-01-02 03:04:05 +0100 {at:2}) {line}"))),
    ("log with tags", |text| each_line(text, |_, line| format!("I0304 05:06:07.123456       1 main.go:42] {line}"))),
    ("json log", |text| each_line(text, |_, line| json!({ "level": "info", "msg": line }).to_string())),
    ("without its end", |text| text.lines().take(5).map(|line| format!("{line}\n")).collect()),
    ("without its beginning", |text| text.lines().skip(2).map(|line| format!("{line}\n")).collect()),
    ("cut in a line", |text| text[..300].to_owned()),
    ("windows", |text| text.replace('\n', "\r\n")),
    ("tabs", |text| each_line(text, |_, line| format!("\t\t{line}"))),
    ("hexdump", |text| hexdump(text)),
];

/// Returns a text in the form of `xxd`.
fn hexdump(text: &str) -> String {
    text.as_bytes()
        .chunks(16)
        .enumerate()
        .map(|(at, bytes)| {
            let pairs: String = bytes
                .chunks(2)
                .map(|pair| pair.iter().map(|byte| format!("{byte:02x}")).collect::<String>() + " ")
                .collect();
            let shown: String = bytes
                .iter()
                .map(|byte| if byte.is_ascii_graphic() || *byte == b' ' { char::from(*byte) } else { '.' })
                .collect();
            format!("{:08x}: {pairs:<40} {shown}\n", at * 16)
        })
        .collect()
}

#[test]
fn private_keys_are_found_in_every_layout() {
    let mut noise = Noise::new(815);
    let mut left = Vec::new();
    for (name, lay_out) in LAYOUTS.iter().chain(KEY_LAYOUTS) {
        for _ in 0..4 {
            let (lines, text) = key(&mut noise);
            let written = lay_out(&text);
            for text in [written.clone(), format!("before it\n{written}and behind it\n")] {
                let redacted = redacted(&json!({ "output": text }));
                let shown = lines.iter().filter(|line| {
                    let in_text = text.contains(line.as_str()) || *name == "url" || *name == "hexdump";
                    let is_long = line.len() > 24;
                    let spelt = if *name == "url" { line.replace('+', "%2B") } else { (*line).clone() };
                    let hex: String = line.bytes().take(16).map(|byte| format!("{byte:02x}")).collect();
                    in_text
                        && is_long
                        && (redacted.contains(&spelt)
                            || redacted.replace(' ', "").contains(&hex[..8]) && *name == "hexdump")
                });
                if shown.count() > 0 {
                    left.push((*name, redacted));
                    break;
                }
            }
        }
    }
    assert!(left.is_empty(), "{} left: {left:#?}", left.len());
}

#[test]
fn secrets_that_are_cut_over_pieces_of_a_stream_are_found() {
    let mut noise = Noise::new(99);
    let mut left = Vec::new();
    for at in 0..200 {
        let secret =
            if at % 2 == 0 { generated(&mut noise, "") } else { format!("{}_{}", "ghp", noise.text(ALNUM, 36)) };
        let text = format!("\nDB_PASSWORD={secret}\nMODE=one\n");
        let mut pieces: Vec<String> = Vec::new();
        let mut rest = text.as_str();
        while !rest.is_empty() {
            let length = (1 + noise.below(9)).min(rest.len());
            pieces.push(rest[..length].to_owned());
            rest = &rest[length..];
        }
        let documents = [
            json!({ "events": pieces.iter().map(|piece| json!({ "type": "response.output_text.delta", "item_id": "a", "delta": piece })).collect::<Vec<_>>() }),
            json!(
                pieces
                    .iter()
                    .map(|piece| json!({ "choices": [{ "index": 0, "delta": { "content": piece } }] }))
                    .collect::<Vec<_>>()
            ),
            json!(
                pieces
                    .iter()
                    .map(|piece| json!({ "stream": "stdout", "chunk": STANDARD.encode(piece) }))
                    .collect::<Vec<_>>()
            ),
            json!({ "chunks": pieces }),
            json!({ "body": pieces.iter().map(|piece| format!("event: x\ndata: {}\n\n", json!({ "type": "content_block_delta", "delta": { "type": "text_delta", "text": piece } }))).collect::<String>() }),
            json!({ "cast": pieces.iter().map(|piece| format!("{}\n", json!([0.5, "o", piece]))).collect::<String>() }),
        ];
        for (form, document) in documents.iter().enumerate() {
            let redacted = redacted(document);
            let mut value: Value = serde_json::from_str(&redacted).expect("JSON");
            let mut joined = String::new();
            strings(&mut value, &mut joined);
            if joined.contains(&secret) {
                left.push((form, joined));
            }
        }
    }
    assert!(left.is_empty(), "{} left: {:#?}", left.len(), &left[..left.len().min(5)]);
}

/// What a program prints last does not say of which session it is: its call does.
#[test]
fn outputs_of_a_session_are_joined_to_its_last_one_and_to_what_is_typed() {
    let mut noise = Noise::new(7);
    let call = |id: &str, chars: &str| {
        let arguments = json!({ "session_id": 77, "chars": chars }).to_string();
        json!({ "type": "function_call", "name": "write_stdin", "arguments": arguments, "call_id": id })
    };
    let output = |id: &str, state: &str, text: &str| {
        let output = format!("Chunk ID: 0a1b2c\nWall time: 1.0 seconds\n{state}\nOutput:\n{text}");
        json!({ "type": "function_call_output", "call_id": id, "output": output })
    };
    let running = "Process running with session ID 77";
    let ended = "Process exited with code 0";
    for _ in 0..20 {
        let secret = generated(&mut noise, "");
        let (first, last) = secret.split_at(5);
        let cut = json!({ "input": [
            output("c1", running, &format!("HOST=x\nDB_PASSWORD={first}")), call("c2", ""), output("c2", ended, &format!("{last}\nMODE=1\n")),
        ] });
        let typed = memorable(&mut noise);
        let asked = json!({ "input": [
            output("c1", running, "Enter password: "), call("c2", &format!("{typed}\n")), output("c2", ended, "welcome\n"),
        ] });
        assert!(!redacted(&cut).contains(last), "{}", redacted(&cut));
        assert!(!redacted(&asked).contains(&typed), "{}", redacted(&asked));
        let lines = json!({ "stdout_lines": ["# smtp password:", format!("  {secret}"), ""] });
        assert!(!redacted(&lines).contains(&secret), "{}", redacted(&lines));
        let other = json!({ "input": [output("c1", running, "Continue? "), call("c2", "node-exporter-9100\n")] });
        assert_eq!(redacted(&other), other.to_string());
    }
}

/// Joins the strings of a document, as a program that shows it does.
fn strings(value: &mut Value, joined: &mut String) {
    match value {
        Value::String(text) => {
            let lines = text
                .lines()
                .filter_map(|line| serde_json::from_str::<Value>(line.strip_prefix("data: ").unwrap_or(line)).ok());
            let inner: Vec<Value> = lines.collect();
            if inner.is_empty() {
                let decoded = STANDARD.decode(text.as_str()).ok().and_then(|bytes| String::from_utf8(bytes).ok());
                joined.push_str(decoded.as_ref().unwrap_or(text));
            }
            for mut inner in inner {
                strings(&mut inner, joined);
            }
        }
        Value::Array(values) => {
            values.iter_mut().filter(|value| **value != json!("o")).for_each(|value| strings(value, joined));
        }
        Value::Object(members) => members
            .iter_mut()
            .filter(|(key, _)| !matches!(key.as_str(), "type" | "item_id" | "stream"))
            .for_each(|(_, value)| strings(value, joined)),
        _ => {}
    }
}
