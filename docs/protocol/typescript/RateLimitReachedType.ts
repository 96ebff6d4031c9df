// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * The limit that was reached.
 */
export type RateLimitReachedType = "rate_limit_reached" | "workspace_owner_credits_depleted" | "workspace_member_credits_depleted" | "workspace_owner_usage_limit_reached" | "workspace_member_usage_limit_reached";
