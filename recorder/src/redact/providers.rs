//! Secrets that are known by their shape alone: the documented formats of providers' keys and tokens.
//!
//! A rule is a kind, texts of which one stands in every such secret (so that most texts need no further look), and the
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
        Regex::new(self.pattern).expect("the built-in patterns are tested")
    }
}

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
    shape("gitlab-token", &["gl"], r"gl(?:pat|dt|rt|cbt|ptt|ft|agent|oas|soat|imt|ffct)-[A-Za-z0-9_.-]{20,300}"),
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
    shape("slack-token", &["xox"], r"xox[abeoprs](?:\.xox[bp])?-[0-9A-Za-z-]{10,250}"),
    shape("slack-token", &["xapp-"], r"xapp-[0-9]-[A-Z0-9]{6,20}-[0-9]{6,20}-[0-9a-z]{20,100}"),
    shape(
        "slack-webhook",
        &["hooks.slack.com/"],
        r"hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9+/]{30,120})",
    ),
    shape("discord-token", &["."], r"[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,38}"),
    shape("discord-webhook", &["/api/webhooks/"], r"/api/webhooks/[0-9]{15,21}/([A-Za-z0-9_-]{60,80})"),
    shape("telegram-token", &[":AA"], r"[0-9]{8,10}:AA[A-Za-z0-9_-]{33}"),
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
    shape("one-password-token", &["ops_eyJ"], r"ops_eyJ[A-Za-z0-9_-]{200,2000}={0,2}"),
    shape("jwt", &["eyJ"], r"eyJ[A-Za-z0-9_-]{10,2000}\.eyJ[A-Za-z0-9_-]{5,8000}\.[A-Za-z0-9_-]{16,2000}"),
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
