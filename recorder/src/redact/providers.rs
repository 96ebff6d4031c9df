//! Secrets that are known by their shape alone: the documented formats of providers' keys and tokens.
//!
//! A rule is a kind, texts of which one is in every such secret (so that most texts need no further look), and the
//! shape. A shape that ends in a fixed number of characters must not be followed by one more. Kinds whose shape is nothing
//! but letters and digits are not here; they are found by the name that they are assigned to.

use regex::Regex;

use super::kind::Kind;

/// One provider's secret.
#[derive(Debug)]
pub(crate) struct Shape {
    pub(crate) kind: Kind,
    /// One of these is in every secret of the kind, in this case.
    pub(crate) anchors: &'static [&'static str],
    /// The secret is group 1 if there is one, else all of it.
    pattern: &'static str,
}

const fn shape(kind: &'static str, anchors: &'static [&'static str], pattern: &'static str) -> Shape {
    Shape { kind: Kind::known(kind), anchors, pattern }
}

impl Shape {
    pub(crate) fn compile(&self) -> Regex {
        let pattern =
            if self.begins_with_anchor() { format!(r"\A(?:{})", self.pattern) } else { self.pattern.to_owned() };
        Regex::new(&pattern).expect("the built-in patterns are tested")
    }

    /// Returns whether every text of the shape begins with an anchor, and not with what is before it.
    pub(crate) fn begins_with_anchor(&self) -> bool {
        !self.anchors.iter().any(|anchor| INNER_ANCHORS.contains(anchor))
    }
}

/// Anchors that are in the middle of their shape.
const INNER_ANCHORS: &[&str] = &[
    "T3BlbkFJ",
    "Q~",
    "AZDO",
    "sig=",
    ".atlasv1.",
    "NRAL",
    ":AA",
    "-us",
    "k_live_",
    "k_prod_",
    "AzFu",
    "AzSe",
    "_mmk",
    "=s.",
    "prv",
    "_live_",
    "/1",
    "msh",
];

/// Every shape. Where two fit the same text, the first names it. No repetition is unbounded, so that a text made to be
/// slow is not.
pub(crate) const SHAPES: &[Shape] = &[
    // Models and their platforms.
    shape("anthropic-key", &["sk-ant-"], r"sk-ant-[a-z]{2,12}[0-9]{0,3}-[A-Za-z0-9_-]{20,200}"),
    shape("openrouter-key", &["sk-or-"], r"sk-or-(?:v[0-9]-)?[0-9a-f]{40,80}"),
    shape("openai-key", &["sk-proj-", "sk-svcacct-", "sk-admin-"], r"sk-(?:proj|svcacct|admin)-[A-Za-z0-9_-]{20,250}"),
    shape("openai-key", &["T3BlbkFJ"], r"sk-[A-Za-z0-9_-]{10,100}T3BlbkFJ[A-Za-z0-9_-]{10,100}"),
    shape("sk-key", &["sk-"], r"sk-[A-Za-z0-9]{32,64}"),
    shape("groq-key", &["gsk_"], r"gsk_[A-Za-z0-9]{40,64}"),
    shape("xai-key", &["xai-"], r"xai-[A-Za-z0-9]{60,100}"),
    shape("perplexity-key", &["pplx-"], r"pplx-[A-Za-z0-9]{40,64}"),
    shape("replicate-token", &["r8_"], r"r8_[A-Za-z0-9]{37,40}"),
    shape("hugging-face-token", &["hf_", "api_org_"], r"(?:hf|api_org)_[A-Za-z0-9]{30,50}"),
    shape("langsmith-key", &["lsv2_"], r"lsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}"),
    shape("tavily-key", &["tvly-"], r"tvly-(?:dev-|prod-)?[A-Za-z0-9]{28,40}"),
    shape("nvidia-key", &["nvapi-"], r"nvapi-[A-Za-z0-9_-]{50,80}"),
    // Clouds and hosting.
    shape("aws-access-key-id", &["AKIA", "ASIA", "ABIA", "ACCA"], r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}"),
    shape("aws-bedrock-key", &["ABSK"], r"ABSK[A-Za-z0-9+/]{100,200}={0,2}"),
    shape("google-api-key", &["AIza"], r"AIza[A-Za-z0-9_-]{35}"),
    shape("google-oauth-secret", &["GOCSPX-"], r"GOCSPX-[A-Za-z0-9_-]{28}"),
    shape("google-oauth-token", &["ya29."], r"ya29\.[A-Za-z0-9_-]{20,2000}"),
    shape("google-refresh-token", &["1//0"], r"1//0[A-Za-z0-9_-]{40,200}"),
    shape("azure-client-secret", &["Q~"], r"[A-Za-z0-9_~.]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,34}"),
    shape("azure-devops-token", &["AZDO"], r"[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}"),
    shape("azure-sas", &["sig="], r"[?&]sig=([A-Za-z0-9%+/]{40,90}(?:=|%3[dD]){0,2})"),
    shape(
        "azure-storage-key",
        &["AccountKey=", "SharedAccessKey="],
        r"(?:Account|SharedAccess)Key=([A-Za-z0-9+/]{43,86}={1,2})",
    ),
    shape("alibaba-access-key-id", &["LTAI"], r"LTAI[A-Za-z0-9]{16,21}"),
    shape("tencent-secret-id", &["AKID"], r"AKID[A-Za-z0-9]{32}"),
    shape("digitalocean-token", &["dop_v1_", "doo_v1_", "dor_v1_"], r"do[por]_v1_[0-9a-f]{64}"),
    shape("cloudflare-token", &["cfk_", "cfut_", "cfat_"], r"cf(?:k|ut|at)_[A-Za-z0-9]{40,64}"),
    shape("cloudflare-origin-key", &["v1.0-"], r"v1\.0-[0-9a-f]{24}-[0-9a-f]{146}"),
    shape("heroku-key", &["HRKU-"], r"HRKU-[A-Za-z0-9_-]{36,80}"),
    shape("fly-token", &["fm2_", "fo1_"], r"(?:fm2|fo1)_[A-Za-z0-9+/=_-]{40,1000}"),
    shape("netlify-token", &["nfp_"], r"nfp_[A-Za-z0-9]{36,50}"),
    shape("vercel-token", &["vcp_", "vci_", "vca_", "vcr_", "vck_"], r"vc[piark]_[A-Za-z0-9]{24,64}"),
    shape("planetscale-token", &["pscale_"], r"pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_.-]{32,64}"),
    shape("supabase-key", &["sb_secret_", "sbp_"], r"sb_secret_[A-Za-z0-9_-]{20,60}|sbp_(?:v0_)?[0-9a-f]{40}"),
    shape("terraform-token", &[".atlasv1."], r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_-]{60,80}"),
    shape("pulumi-token", &["pul-"], r"pul-[0-9a-f]{40}"),
    shape("vault-token", &["hvs.", "hvb.", "hvr."], r"hv[sbr]\.[A-Za-z0-9_-]{24,300}"),
    shape("doppler-token", &["dp."], r"dp\.(?:pt|st|ct|sa|scim|audit|said)\.(?:[a-z0-9_-]{2,35}\.)?[A-Za-z0-9]{40,44}"),
    shape("tailscale-key", &["tskey-"], r"tskey-[a-z]{2,12}-[A-Za-z0-9]{5,30}-[A-Za-z0-9]{20,60}"),
    shape("databricks-token", &["dapi"], r"dapi[0-9a-f]{32}(?:-[0-9]{1,2})?"),
    // Code, packages, builds.
    shape("github-token", &["ghp_", "gho_", "ghu_", "ghs_", "ghr_"], r"gh[pousr]_[A-Za-z0-9]{36,255}"),
    shape("github-token", &["github_pat_"], r"github_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59}"),
    shape(
        "gitlab-token",
        &[
            "glpat-", "gldt-", "glrt-", "glcbt-", "glptt-", "glft-", "glagent-", "gloas-", "glsoat-", "glimt-",
            "glffct-",
        ],
        r"gl(?:pat|dt|rt|cbt|ptt|ft|agent|oas|soat|imt|ffct)-[A-Za-z0-9_.-]{20,300}",
    ),
    shape("bitbucket-token", &["ATBB"], r"ATBB[A-Za-z0-9]{24,40}"),
    shape("atlassian-token", &["ATATT3", "ATCTT3"], r"AT[AC]TT3[A-Za-z0-9_=-]{100,300}"),
    shape("npm-token", &["npm_"], r"npm_[A-Za-z0-9]{36}"),
    shape("pypi-token", &["pypi-AgE"], r"pypi-AgE[A-Za-z0-9_-]{50,1000}"),
    shape("crates-io-token", &["cio"], r"cio[A-Za-z0-9]{32}"),
    shape("rubygems-key", &["rubygems_"], r"rubygems_[0-9a-f]{48}"),
    shape("nuget-key", &["oy2"], r"oy2[a-z0-9]{43}"),
    shape("clojars-token", &["CLOJARS_"], r"CLOJARS_[0-9a-z]{60}"),
    shape("docker-token", &["dckr_"], r"dckr_(?:pat|oat)_[A-Za-z0-9_-]{27,40}"),
    shape("circleci-token", &["CCIPAT_", "CCIPRJ_"], r"CCI(?:PAT|PRJ)_[A-Za-z0-9]{22}_[0-9a-f]{40}"),
    shape("buildkite-token", &["bkua_", "bkct_"], r"bk(?:ua|ct)_[0-9A-Za-z]{40,64}"),
    shape("sonar-token", &["sqp_", "squ_", "sqa_"], r"sq[pua]_[0-9a-f]{40}"),
    shape("postman-key", &["PMAK-"], r"PMAK-[0-9a-f]{24}-[0-9a-f]{34}"),
    shape("jfrog-key", &["AKCp"], r"AKCp[A-Za-z0-9]{69}"),
    // Watching.
    shape("grafana-token", &["glsa_", "glc_"], r"glsa_[A-Za-z0-9]{32}_[0-9a-f]{8}|glc_[A-Za-z0-9+/]{32,400}={0,2}"),
    shape("sentry-token", &["sntrys_", "sntryu_"], r"sntryu_[0-9a-f]{64}|sntrys_[A-Za-z0-9+/=_]{60,400}"),
    shape("new-relic-key", &["NRAK-", "NRAL"], r"NRAK-[A-Z0-9]{27}|[0-9a-f]{36}NRAL"),
    shape("dynatrace-token", &["dt0"], r"dt0[a-z][0-9]{2}\.[A-Z0-9]{24}\.[A-Z0-9]{64}"),
    shape("datadog-token", &["ddpat_"], r"ddpat_[A-Za-z0-9_-]{30,100}"),
    // Messages and mail.
    shape("slack-token", &["xox"], r"xox[abcdeoprs](?:\.xox[bp])?-[0-9A-Za-z-]{10,250}"),
    shape("slack-token", &["xapp-"], r"xapp-[0-9]-[A-Z0-9]{6,20}-[0-9]{6,20}-[0-9a-z]{20,100}"),
    shape(
        "slack-webhook",
        &["hooks.slack.com/"],
        r"hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9+/]{30,120})",
    ),
    shape(
        "discord-token",
        &["MT", "Mj", "Mz", "ND", "NT", "Nj", "Nz", "OD", "OT"],
        r"[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,38}",
    ),
    shape("discord-webhook", &["/api/webhooks/"], r"/api/webhooks/[0-9]{15,21}/([A-Za-z0-9_-]{60,80})"),
    shape("telegram-token", &[":AA"], r"(?:bot)?([0-9]{8,10}:AA[A-Za-z0-9_-]{33})"),
    shape("sendgrid-key", &["SG."], r"SG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}"),
    shape("mailgun-key", &["key-"], r"key-[0-9a-f]{32}"),
    shape("mailchimp-key", &["-us"], r"[0-9a-f]{32}-us[0-9]{1,2}"),
    shape("brevo-key", &["xkeysib-", "xsmtpsib-"], r"x(?:key|smtp)sib-[0-9a-f]{64}-[A-Za-z0-9]{16}"),
    shape("resend-key", &["re_"], r"re_[A-Za-z0-9]{8}_[A-Za-z0-9]{24}"),
    shape("twilio-key", &["SK"], r"SK[0-9a-f]{32}"),
    // Money and shops.
    shape("stripe-key", &["k_live_", "k_test_"], r"[sr]k_(?:live|test)_[A-Za-z0-9]{16,250}"),
    shape("webhook-secret", &["whsec_"], r"whsec_[A-Za-z0-9+/]{24,80}={0,2}"),
    shape("square-token", &["sq0", "EAAA"], r"sq0(?:atp|csp)-[A-Za-z0-9_-]{22,43}|EAAA[A-Za-z0-9_-]{60}"),
    shape("shopify-token", &["shp"], r"shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}"),
    shape("razorpay-key", &["rzp_"], r"rzp_(?:live|test)_[A-Za-z0-9]{14,20}"),
    shape("easypost-key", &["EZAK", "EZTK"], r"EZ[AT]K[A-Za-z0-9]{54}"),
    // Work and design.
    shape("linear-key", &["lin_"], r"lin_(?:api|oauth|wh)_[A-Za-z0-9]{32,64}"),
    shape("notion-token", &["ntn_", "secret_"], r"ntn_[A-Za-z0-9]{40,60}|secret_[A-Za-z0-9]{43}"),
    shape("airtable-token", &["pat"], r"pat[A-Za-z0-9]{14}\.[0-9a-f]{64}"),
    shape("figma-token", &["figd_", "figu_"], r"fig[du]_[A-Za-z0-9_-]{40,60}"),
    shape("hubspot-token", &["pat-"], r"pat-[a-z]{2}[0-9]-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"),
    shape("dropbox-token", &["sl."], r"sl\.(?:u\.)?[A-Za-z0-9_-]{120,1500}"),
    shape("contentful-token", &["CFPAT-"], r"CFPAT-[A-Za-z0-9_-]{43}"),
    shape("mapbox-token", &["sk.eyJ"], r"sk\.eyJ[A-Za-z0-9_-]{40,200}\.[A-Za-z0-9_-]{20,60}"),
    // Keys of people and machines.
    shape("age-key", &["AGE-SECRET-KEY-1"], r"AGE-SECRET-KEY-1[0-9A-Z]{58}"),
    shape("nkey-seed", &["SUA", "SAA", "SOA", "SNA", "SCA", "SXA"], r"S[UAONCX]A[A-Z2-7]{55}"),
    shape("one-password-token", &["ops_eyJ"], r"ops_eyJ[A-Za-z0-9_-]{200,2000}={0,2}"),
    shape("jwt", &["eyJ"], r"eyJ[A-Za-z0-9_-]{10,2000}\.eyJ[A-Za-z0-9_-]{5,8000}\.[A-Za-z0-9_-]{16,2000}"),
    // Models, more of them.
    shape("cohere-key", &["co_"], r"co_[A-Za-z0-9]{36,48}"),
    shape("fireworks-key", &["fw_"], r"fw_[A-Za-z0-9]{22,48}"),
    shape("cerebras-key", &["csk-"], r"csk-[a-z0-9]{40,64}"),
    shape("voyage-key", &["pa-"], r"pa-[A-Za-z0-9_-]{40,48}"),
    shape("pinecone-key", &["pcsk_"], r"pcsk_[A-Za-z0-9_]{40,90}"),
    shape("elevenlabs-key", &["sk_"], r"sk_[0-9a-f]{48}"),
    shape("langfuse-key", &["sk-lf-"], r"sk-lf-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"),
    shape("firecrawl-key", &["fc-"], r"fc-[0-9a-f]{32}"),
    shape("apify-token", &["apify_api_"], r"apify_api_[A-Za-z0-9-]{30,50}"),
    shape("jina-key", &["jina_"], r"jina_[A-Za-z0-9_-]{40,70}"),
    shape("weights-and-biases-key", &["wandb_v1_"], r"wandb_v1_[A-Za-z0-9_]{40,100}"),
    shape("browserbase-key", &["bb_live_", "bb_test_"], r"bb_(?:live|test)_[A-Za-z0-9_-]{24,60}"),
    // Clouds and hosting, more of them.
    shape("aws-access-key-id", &["A3T"], r"A3T[A-Z0-9][A-Z2-7]{16}"),
    shape("aws-bedrock-key", &["bedrock-api-key-"], r"bedrock-api-key-[A-Za-z0-9+/=]{40,2000}"),
    shape("aws-app-sync-key", &["da2-"], r"da2-[a-z0-9]{26}"),
    shape("aws-session-token", &["IQoJb3JpZ2lu"], r"IQoJb3JpZ2lu[A-Za-z0-9+/=]{100,2000}"),
    shape("azure-function-key", &["AzFu"], r"[A-Za-z0-9_-]{40,48}AzFu[A-Za-z0-9_=-]{4,12}"),
    shape(
        "azure-key",
        &[
            "AzSe", "AzCa", "ACDb", "+ACR", "AIoT", "+AMC", "APIM", "+ABa", "+ASt", "+AEh", "+ARm", "+ASb", "AACOG",
            "ACOG", "AAAY",
        ],
        r"[A-Za-z0-9+/]{30,80}(?:AzSe|AzCa|ACDb|\+ACR|AIoT|\+AMC|APIM|\+ABa|\+ASt|\+AEh|\+ARm|\+ASb|ACOG)[A-Za-z0-9+/]{4,8}={0,2}",
    ),
    shape("google-oauth-token", &["4/0A"], r"4/0A[A-Za-z0-9_-]{60,100}"),
    shape("ibm-key", &["ApiKey-"], r"ApiKey-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"),
    shape("openshift-token", &["sha256~"], r"sha256~[A-Za-z0-9_-]{43}"),
    shape("fly-token", &["fm1a_", "fm1r_"], r"fm1[ar]_[A-Za-z0-9+/]{100,1000}={0,3}"),
    shape("render-key", &["rnd_"], r"rnd_[A-Za-z0-9]{28,40}"),
    shape("scaleway-key", &["SCW"], r"SCW[A-Z0-9]{17}"),
    shape("scalingo-token", &["tk-us-"], r"tk-us-[A-Za-z0-9_-]{48}"),
    shape("neon-key", &["napi_", "npg_"], r"napi_[a-z0-9]{40,80}|npg_[A-Za-z0-9]{12,40}"),
    shape("aiven-token", &["AVNS_", "aivenv1_"], r"AVNS_[A-Za-z0-9_-]{15,24}|aivenv1_[A-Za-z0-9+/]{60,80}"),
    shape("clickhouse-key", &["4b1d"], r"4b1d[A-Za-z0-9]{38}"),
    shape("upstash-token", &["upsh_"], r"upsh_[A-Za-z0-9]{24,60}"),
    shape(
        "infisical-token",
        &["st."],
        r"st\.[0-9a-f]{8,24}(?:-[0-9a-f]{4}){0,4}[0-9a-f-]{0,13}\.[0-9a-f]{32}\.[0-9a-f]{32}",
    ),
    shape("vault-token", &[" s.", "=s.", "\"s.", "'s.", ":s.", "=b.", "\"b.", " b."], r"[sb]\.[A-Za-z0-9]{24}"),
    shape("consul-token", &["nomad_"], r"nomad_[A-Za-z0-9_-]{30,60}"),
    shape("boundary-token", &["at_"], r"at_[A-Za-z0-9]{10}_[A-Za-z0-9]{60,200}"),
    shape("harness-token", &["pat.", "sat."], r"[ps]at\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9]{24}\.[A-Za-z0-9]{20}"),
    shape("prefect-key", &["pnu_", "pnb_"], r"pn[ub]_[A-Za-z0-9]{36}"),
    shape("infracost-key", &["ico-"], r"ico-[A-Za-z0-9]{32}"),
    // Code, packages and builds, more of them.
    shape("gitlab-token", &["GR1348941"], r"GR1348941[A-Za-z0-9_-]{20}"),
    shape("gitlab-token", &["glrt-t", "glcbt-"], r"gl(?:rt-t[0-9]_|cbt-[0-9a-zA-Z]{1,5}_)[A-Za-z0-9_.-]{20,300}"),
    shape("gitea-token", &["gitea_"], r"gitea_[0-9a-f]{40}"),
    shape("npm-token", &["npms_"], r"npms_[A-Za-z0-9]{36}"),
    shape("jfrog-key", &["cmVmdGtu"], r"cmVmdGtu[A-Za-z0-9]{56}"),
    shape("octopus-key", &["API-"], r"API-[A-Z0-9]{25,32}"),
    shape(
        "sourcegraph-token",
        &["sgp_", "slk_", "sgd_"],
        r"sgp_(?:(?:[0-9a-fA-F]{16}|local)_)?[0-9a-fA-F]{40}|sl?g?[kd]_[0-9a-f]{64}",
    ),
    shape("codecov-token", &["codecov_"], r"codecov_[A-Za-z0-9-]{32,60}"),
    shape("bitrise-token", &["bitpat_"], r"bitpat_[A-Za-z0-9_-]{20,100}"),
    shape("snyk-token", &["snyk_"], r"snyk_[a-z]{2,8}_[A-Za-z0-9_.-]{24,120}"),
    shape("hackerone-token", &["h1_"], r"h1_[A-Za-z0-9]{40,60}"),
    shape("stackhawk-key", &["hawk."], r"hawk\.[A-Za-z0-9_-]{20}\.[A-Za-z0-9_-]{20}"),
    shape("readme-key", &["rdme_"], r"rdme_[a-z0-9]{70}"),
    shape("docker-token", &["dtr_"], r"dtr_[A-Za-z0-9_-]{27,60}"),
    shape("dependency-track-key", &["odt_"], r"odt_(?:[A-Za-z0-9]{8}_)?[A-Za-z0-9]{32}"),
    // Watching, more of it.
    shape("grafana-token", &["eyJrIjoi"], r"eyJrIjoi[A-Za-z0-9+/]{60,400}={0,3}"),
    shape("new-relic-key", &["NRII-", "NRRA-", "NRJS-", "NRSP-"], r"NR(?:II|RA|JS|SP)-[A-Za-z0-9_-]{19,46}"),
    shape("honeycomb-key", &["hcaik_", "hcalk_", "hcamk_", "hcxik_"], r"hc[ax][a-z]k_[a-z0-9]{26,64}"),
    shape("posthog-key", &["phx_", "phs_"], r"ph[xs]_[A-Za-z0-9_-]{32,64}"),
    shape("axiom-token", &["xaat-", "xapt-"], r"xa(?:at|pt)-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"),
    shape("splunk-token", &["Splunk "], r"Splunk ([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})"),
    // Messages and mail, more of them.
    shape("slack-token", &["xoxe"], r"xoxe(?:\.xox[bp])?-[0-9]-[A-Za-z0-9]{100,200}"),
    shape("slack-cookie", &["xoxd-"], r"xoxd-[A-Za-z0-9%+/=-]{40,300}"),
    shape("postmark-key", &["PMAT-"], r"PMAT-[A-Za-z0-9-]{20,60}"),
    shape("mailersend-key", &["mlsn."], r"mlsn\.[0-9a-f]{64}"),
    shape("courier-key", &["pk_prod_"], r"pk_prod_[A-Z0-9]{28}"),
    shape("facebook-token", &["EAA"], r"EAA[A-Za-z][A-Za-z0-9]{80,400}"),
    shape("twitter-token", &["AAAAAAAAA"], r"A{10,30}[A-Za-z0-9%]{60,200}"),
    shape("twitch-token", &["oauth:"], r"oauth:([a-z0-9]{30})"),
    // Money and shops, more of them.
    shape("stripe-key", &["k_prod_", "k_org_"], r"[sr]k_(?:prod|org)_(?:live_|test_)?[A-Za-z0-9]{10,250}"),
    shape("paystack-key", &["sk_live_", "sk_test_"], r"sk_(?:live|test)_[0-9a-f]{40}"),
    shape("flutterwave-key", &["FLWSECK"], r"FLWSECK(?:_TEST)?-[A-Za-z0-9]{12,40}(?:-X)?"),
    shape("paypal-token", &["access_token$"], r"access_token\$(?:production|sandbox)\$[0-9a-z]{16}\$[0-9a-f]{32}"),
    shape("shippo-token", &["shippo_"], r"shippo_(?:live|test)_[0-9a-fA-F]{40}"),
    shape("duffel-token", &["duffel_"], r"duffel_(?:test|live)_[A-Za-z0-9_=-]{43}"),
    shape(
        "plaid-token",
        &["access-sandbox-", "access-production-", "access-development-"],
        r"access-(?:sandbox|development|production)-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}",
    ),
    shape("adyen-key", &["AQE"], r"AQE[a-z][A-Za-z0-9+/]{60,200}={0,2}-[A-Za-z0-9+/]{30,60}={0,2}-[^\s]{16}"),
    // Work and design, more of it.
    shape("typeform-token", &["tfp_"], r"tfp_[A-Za-z0-9_-]{40,64}"),
    shape("asana-token", &["/1"], r"[0-9]/[0-9]{16}:[0-9a-f]{32}|[12]/[0-9]{13,17}/[0-9]{13,17}:[0-9a-f]{32}"),
    shape("clickup-token", &["pk_"], r"pk_[0-9]{7,9}_[A-Z0-9]{32}"),
    shape("adobe-secret", &["p8e-"], r"p8e-[A-Za-z0-9_-]{30,36}"),
    shape("frame-io-token", &["fio-u-"], r"fio-u-[A-Za-z0-9_=-]{64}"),
    shape(
        "launchdarkly-key",
        &["api-", "sdk-"],
        r"(?:api|sdk)-[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}",
    ),
    shape("maxmind-key", &["_mmk"], r"[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk"),
    shape("adafruit-key", &["aio_"], r"aio_[A-Za-z0-9]{28}"),
    shape(
        "bitwarden-token",
        &["0."],
        r"0\.[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\.[A-Za-z0-9]{30}:[A-Za-z0-9+/=]{24}",
    ),
    // Keys of people and machines, more of them.
    shape(
        "one-password-key",
        &["A3-"],
        r"A3-[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})-[A-Z0-9]{5}-[A-Z0-9]{5}-[A-Z0-9]{5}",
    ),
    shape("wallet-key", &["prv"], r"[xyztuvYZ]prv[1-9A-HJ-NP-Za-km-z]{100,112}"),
    shape("nostr-key", &["nsec1"], r"nsec1[02-9ac-hj-np-z]{58}"),
    shape("macaroon", &["MDAx", "MDAw"], r"MDA[wx][A-Za-z0-9_-]{80,2000}"),
    shape(
        "jwt",
        &["eyJ"],
        r"eyJ[A-Za-z0-9_-]{10,2000}\.\.[A-Za-z0-9_-]{8,2000}\.[A-Za-z0-9_-]{8,8000}\.[A-Za-z0-9_-]{8,200}",
    ),
    shape("jwt", &["ZXlK"], r"ZXlK[A-Za-z0-9+/]{80,4000}={0,2}"),
    // What other scanners know besides.
    shape("twitch-stream-key", &["live_"], r"live_[0-9]{6,12}_[A-Za-z0-9]{20,40}"),
    shape("rancher-token", &["token-"], r"token-[a-z0-9]{5}:[A-Za-z0-9]{40,60}"),
    shape("npm-token", &["NpmToken."], r"NpmToken\.[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"),
    shape("firebase-key", &["AAAA"], r"AAAA[A-Za-z0-9_-]{7}:APA91b[A-Za-z0-9_-]{100,200}"),
    shape("discord-token", &["mfa."], r"mfa\.[A-Za-z0-9_-]{80,100}"),
    shape("paypal-token", &["A21AA"], r"A21AA[A-Za-z0-9_-]{60,120}"),
    shape("backblaze-key", &["K00"], r"K00[0-9][A-Za-z0-9/+]{27}"),
    shape("phabricator-token", &["api-", "cli-"], r"(?:api|cli)-[a-z0-9]{28}"),
    shape("microsoft-token", &["M.C", "M.R"], r"M\.[CR][0-9]{1,4}_[A-Za-z0-9!*$._-]{40,600}"),
    shape("matrix-token", &["syt_"], r"syt_[A-Za-z0-9+/=_-]{1,80}_[A-Za-z0-9]{20}_[A-Za-z0-9]{6}"),
    shape("dbt-token", &["dbtc_", "dbtu_"], r"dbt[cu]_[A-Za-z0-9_-]{30,60}"),
    shape("mongodb-secret", &["mdb_sa_sk_"], r"mdb_sa_sk_[A-Za-z0-9_-]{30,60}"),
    shape("pubnub-key", &["sec-c-"], r"sec-c-[A-Za-z0-9-]{36,80}"),
    shape("scrapfly-key", &["scp-live-", "scp-test-"], r"scp-(?:live|test)-[0-9a-f]{32}"),
    shape("telnyx-key", &["KEY0"], r"KEY0[0-9A-F]{30,34}_[A-Za-z0-9]{20,24}"),
    shape("rapidapi-key", &["msh"], r"[0-9a-f]{10}msh[0-9a-f]{15}p1[0-9a-f]{5,6}jsn[0-9a-f]{12}"),
    shape("anaconda-token", &["/t/"], r"/t/([a-z]{2}-[0-9a-f-]{32,40})"),
    shape("ionic-token", &["ion_"], r"ion_[A-Za-z0-9]{40,44}"),
    shape("salesforce-token", &["00D"], r"00D[A-Za-z0-9]{12,15}![A-Za-z0-9._]{40,200}"),
    shape("teamwork-token", &["tkn.v1_"], r"tkn\.v1_[A-Za-z0-9+/=]{40,100}"),
    shape("ubidots-token", &["BBFF-", "BBUS-"], r"BB(?:FF|US)-[A-Za-z0-9]{30,36}"),
    shape("segment-token", &["sgp_"], r"sgp_[A-Za-z0-9]{64}"),
    shape("k3s-token", &["K10"], r"K10[0-9a-f]{64}::[\w-]{2,30}:[\w.]{16,64}"),
    shape("swarm-token", &["SWMTKN-"], r"SWMTKN-[0-9]-[0-9a-z]{50}-[0-9a-z]{25}"),
    shape("mandrill-key", &["md-"], r"md-[A-Za-z0-9_-]{22}"),
    shape("trello-token", &["ATTA"], r"ATTA[0-9a-fA-F]{64,72}"),
    shape("intercom-token", &["dG9r"], r"dG9r[A-Za-z0-9+/]{50,80}={0,2}"),
    shape("fauna-key", &["fnAE", "fnAF", "fnAD"], r"fnA[DEF][A-Za-z0-9_-]{36,52}"),
    shape("cockroach-key", &["CCDB1_"], r"CCDB1_[A-Za-z0-9]{22}_[A-Za-z0-9]{40}"),
    shape("anyscale-key", &["esecret_"], r"esecret_[a-z0-9]{24,40}"),
    shape("runpod-key", &["rpa_"], r"rpa_[A-Z0-9]{36,48}[a-z0-9]{0,8}"),
    shape("brave-key", &["BSA"], r"BSA[A-Za-z0-9_-]{24,30}"),
    shape("e2b-key", &["e2b_"], r"e2b_[0-9a-f]{40}"),
    shape("yandex-key", &["AQVN", "y0_"], r"AQVN[A-Za-z0-9_-]{35,38}|y0_[A-Za-z0-9_-]{50,70}"),
    shape("vk-token", &["vk1.a."], r"vk1\.a\.[A-Za-z0-9_-]{60,300}"),
    shape("baidu-key", &["bce-v3/"], r"bce-v3/ALTAK-[A-Za-z0-9]{21}/[0-9a-f]{40}"),
    shape("deno-token", &["ddp_", "ddo_"], r"dd[po]_[A-Za-z0-9]{36}"),
    shape("netlify-token", &["nfc_", "nfo_", "nfb_", "nfu_"], r"nf[cobu]_[A-Za-z0-9]{36,50}"),
    shape("depot-token", &["depot_"], r"depot_(?:project|org|user)_[0-9a-f]{60,70}"),
    shape("dashlane-key", &["dls_"], r"dls_[A-Z0-9]{16,32}_[A-Za-z0-9]{40,400}"),
    shape("netbird-token", &["nbp_"], r"nbp_[A-Za-z0-9]{36}"),
    shape("statsig-key", &["secret-"], r"secret-[A-Za-z0-9]{40,60}"),
    shape("launchdarkly-key", &["mob-"], r"mob-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"),
    shape("helicone-key", &["sk-helicone-"], r"sk-helicone-[a-z0-9-]{20,60}"),
    shape("instagram-token", &["IGQV", "IGAA"], r"IG(?:QV|AA)[A-Za-z0-9_-]{60,300}"),
    shape("aws-session-token", &["FwoGZXIvYXdz"], r"FwoGZXIvYXdz[A-Za-z0-9+/=]{100,2000}"),
    shape("google-api-key", &["AQ.Ab"], r"AQ\.Ab[A-Za-z0-9_-]{40,60}"),
    shape("cypress-key", &["cypress_"], r"cypress_[A-Za-z0-9_-]{30,60}"),
    shape(
        "password-hash",
        &["grub.pbkdf2"],
        r"grub\.pbkdf2\.sha512\.[0-9]{1,9}\.[0-9A-Fa-f]{32,256}\.[0-9A-Fa-f]{32,256}",
    ),
    shape(
        "prefixed-token",
        &[
            "sk_",
            "sk-",
            "pat_",
            "rk_",
            "tok_",
            "token_",
            "secret_",
            "apikey_",
            "api_key_",
            "access_token_",
            "key_live",
            "key_test",
            "_live_",
            "_secret_",
            "_sk_",
            "_pat_",
            "_token_",
            "_test_",
        ],
        PREFIXED,
    ),
    shape(
        "password-hash",
        &["$1$", "$2a$", "$2b$", "$2y$", "$2x$"],
        r"\$2[abxy]\$[0-9]{2}\$[./A-Za-z0-9]{53}|\$1\$[./A-Za-z0-9]{1,8}\$[./A-Za-z0-9]{22}",
    ),
    shape(
        "password-hash",
        &["$5$", "$6$", "$7$", "$y$", "$gy$", "$apr1$", "$md5", "$sha1$"],
        r"\$(?:5|6|7|y|gy|apr1|sha1|md5)\$(?:rounds=[0-9]{1,9}\$)?[./A-Za-z0-9$=,]{1,60}\$[./A-Za-z0-9]{20,100}",
    ),
    shape(
        "password-hash",
        &["$argon2", "$scrypt$", "$pbkdf2", "$bcrypt-", "$P$", "$H$", "$S$", "$8$", "$9$", "$14$"],
        r"\$(?:argon2(?:id?|d)|scrypt|pbkdf2(?:-[a-z0-9]{2,8})?|bcrypt-sha256|8|9|14)\$[A-Za-z0-9./=,+$_-]{30,300}|\$[PHS]\$[./A-Za-z0-9]{31,60}",
    ),
    shape(
        "password-hash",
        &["{SSHA", "{SHA", "{CRYPT}", "{PBKDF2", "{SMD5}", "{MD5}"],
        r"\{(?:S?SHA(?:256|384|512)?|S?MD5|CRYPT|PBKDF2[A-Z0-9-]{0,10})\}[A-Za-z0-9+/=.$]{20,200}",
    ),
    shape(
        "password-hash",
        &["pbkdf2_sha", "pbkdf2:sha", "bcrypt_sha256$", "argon2$", "scrypt:"],
        r"(?:pbkdf2[_:]sha(?:1|256|512)[$:][0-9]{3,8}\$[A-Za-z0-9]{4,40}\$[A-Za-z0-9+/=]{20,140}|scrypt:[0-9:]{5,20}\$[A-Za-z0-9]{4,40}\$[0-9a-f]{64,140}|(?:bcrypt_sha256|argon2)\$\$?[A-Za-z0-9./=,+$_-]{40,300})",
    ),
    shape(
        "password-hash",
        &["SCRAM-SHA-"],
        r"SCRAM-SHA-(?:1|256)\$[0-9]{3,7}:[A-Za-z0-9+/=]{8,60}\$[A-Za-z0-9+/=]{20,60}:[A-Za-z0-9+/=]{20,60}",
    ),
    shape("password-hash", &["$krb5"], r"\$krb5[a-z]{2,6}\$[0-9]{1,2}\$[^\s]{40,4000}"),
];

/// Words that begin the tokens of many services, and random letters and digits after them.
const PREFIXED: &str = r"(?:[a-z]{2,12}_)?(?:sk|rk|pat|tok|token|secret|apikey|api_key|access_token|key)[_-](?:(?:live|test|prod|dev|v[0-9])[_-])?[A-Za-z0-9]{20,80}|[a-z]{2,12}_(?:live|test|secret|token|pat|sk)_[A-Za-z0-9_-]{20,80}";

/// Kinds whose shape begins like words that are in longer names.
pub(crate) const LOOSE: &[&str] = &[
    "prefixed-token",
    "sk-key",
    "mailgun-key",
    "vault-token",
    "launchdarkly-key",
    "twilio-key",
    "resend-key",
    "elevenlabs-key",
    "airtable-token",
    "asana-token",
    "notion-token",
    "scaleway-key",
    "octopus-key",
    "fireworks-key",
    "cohere-key",
    "voyage-key",
    "mandrill-key",
    "brave-key",
    "statsig-key",
    "salesforce-token",
    "backblaze-key",
    "phabricator-token",
    "rancher-token",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shape_compiles_and_has_anchors() {
        for shape in SHAPES {
            assert!(shape.compile().captures_len() <= 2, "{}: one group at most", shape.kind);
            assert!(!shape.anchors.is_empty() && shape.anchors.iter().all(|anchor| !anchor.is_empty()));
            assert!(Kind::parse(shape.kind.as_str()).is_some(), "{}", shape.kind);
        }
    }
}
