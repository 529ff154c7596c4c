"""Keys of model vendors and of the services around them."""

from __future__ import annotations

from geode_traj.scan import plausible
from geode_traj.scan.rules import EDGE, Rule, token

WORD = rb"[A-Za-z0-9]"
DASH = rb"[A-Za-z0-9_-]"
HEX = rb"[0-9a-f]"
ANY = b""  # no left bound: GEODE's own known patterns have none, and ours find at least as much

RULES: tuple[Rule, ...] = (
    token("openai_key", rb"sk-(?:proj|svcacct|admin|None)-", DASH, 20, "sk-", "proj-", "a1B2" * 12, edge=ANY),
    token(
        "openai_legacy_key",
        rb"sk-",
        WORD,
        20,
        "sk",
        "-",
        "a1B2" * 12,
        edge=ANY,
        cls="openai_key",
        misses=(("sk-", "your-key-here"), ("sk-", "..."), ("task-", "queue-runner-for-the-night")),
    ),
    token("anthropic_key", rb"sk-ant-", DASH, 20, "sk-", "ant-", "api03-", "a1B2" * 23, edge=ANY),
    token("openrouter_key", rb"sk-or-v1-", HEX, 64, "sk-", "or-v1-", "a1b2" * 16),
    token("langfuse_key", rb"sk-lf-", rb"[0-9a-f-]", 32, "sk-", "lf-", "a1b2" * 9),
    Rule(
        id="google_api_key",
        cls="google_api_key",
        pattern=EDGE + rb"(AIza[A-Za-z0-9_-]{35})(?:[^A-Za-z0-9_-]|$)",
        trigger=rb"AIza[A-Za-z0-9_-]{10}",
        examples=(("key=", "AI", "za", "Sy" + "a1B2" * 8 + "C", "&v=3"),),
        misses=(("AI", "za" + "a1B2" * 12),),
        accept=plausible.issued,
    ),
    token(
        "huggingface_token",
        rb"hf_",
        WORD,
        30,
        "hf",
        "_",
        "aBcD" * 8 + "ef",
        accept=plausible.drawn,
        misses=(("hf", "_", "requiredCharacteristicsForDisplay"),),
    ),
    token(
        "huggingface_org_token", rb"api_org_", WORD, 30, "api_", "org_", "aBcD" * 8, cls="huggingface_token"
    ),
    token("groq_key", rb"gsk_", WORD, 40, "gsk", "_", "a1B2" * 13),
    token("xai_key", rb"xai-", WORD, 60, "xa", "i-", "a1B2" * 20),
    token("perplexity_key", rb"pplx-", WORD, 40, "pp", "lx-", "a1b2" * 12),
    token("replicate_token", rb"r8_", WORD, 30, "r", "8_", "a1B2" * 9),
    token("fireworks_key", rb"fw_", WORD, 22, "fw", "_", "a1B2" * 6),
    token("cerebras_key", rb"csk-", rb"[a-z0-9]", 40, "cs", "k-", "a1b2" * 12),
    token("nvidia_key", rb"nvapi-", DASH, 40, "nv", "api-", "a1B2" * 16),
    token("together_key", rb"tgp_v1_", DASH, 40, "tgp_", "v1_", "a1B2" * 11),
    token("zhipu_key", rb"[0-9a-f]{32}\.", WORD, 16, "a1b2" * 8, ".", "a1B2" * 4, edge=ANY),
    token(
        "langsmith_key", rb"lsv2_(?:pt|sk)_", rb"[0-9a-f_]", 40, "lsv2_", "pt_", "a1b2" * 8, "_", "a1b2c3d4e5"
    ),
    token("tavily_key", rb"tvly-", rb"[A-Za-z0-9-]", 20, "tv", "ly-", "dev-", "a1B2" * 8),
    token("firecrawl_key", rb"fc-", HEX, 32, "f", "c-", "a1b2" * 8),
    token("jina_key", rb"jina_", DASH, 40, "ji", "na_", "a1b2" * 15),
    token("voyage_key", rb"pa-", DASH, 40, "p", "a-", "a1B2" * 11),
    token("pinecone_key", rb"pcsk_", rb"[A-Za-z0-9_]", 40, "pc", "sk_", "a1B2c3_" + "a1B2" * 15),
    token("elevenlabs_key", rb"sk_", HEX, 48, "s", "k_", "a1b2" * 12),
    token("e2b_key", rb"e2b_", HEX, 40, "e2", "b_", "a1b2" * 10),
    token("apify_token", rb"apify_api_", WORD, 30, "apify_", "api_", "a1B2" * 9),
    token("wandb_key", rb"wandb_v1_", rb"[A-Za-z0-9_]", 60, "wandb_", "v1_", "a1B2" * 19),
    token("upstage_key", rb"up_", WORD, 28, "u", "p_", "a1B2" * 7 + "a", accept=plausible.drawn),
    token("llamacloud_key", rb"llx-", WORD, 40, "ll", "x-", "a1B2" * 12),
    token("runpod_key", rb"rpa_", WORD, 40, "rp", "a_", "A1B2" * 10, "a1b2", accept=plausible.drawn),
    token("devin_key", rb"(?:cog|apk(?:_user)?)_", rb"[A-Za-z0-9=]", 50, "co", "g_", "a1b2" * 13),
)
