// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { CreditsSnapshot } from "./CreditsSnapshot";
import type { PlanType } from "./PlanType";
import type { RateLimitReachedType } from "./RateLimitReachedType";
import type { RateLimitWindow } from "./RateLimitWindow";
import type { SpendControlLimitSnapshot } from "./SpendControlLimitSnapshot";

/**
 * How much of an account's limits is used.
 */
export type RateLimitSnapshot = {
/**
 * What is left of the credits.
 */
credits?: CreditsSnapshot | null,
/**
 * The limit on what this user spends.
 */
individualLimit?: SpendControlLimitSnapshot | null,
/**
 * The id of the limit.
 */
limitId?: string | null,
/**
 * The name of the limit.
 */
limitName?: string | null,
/**
 * The model that the limit is about.
 */
normalModelSlug?: string | null,
/**
 * The kind of subscription.
 */
planType?: PlanType | null,
/**
 * The first span of time.
 */
primary?: RateLimitWindow | null,
/**
 * The limit that was reached.
 */
rateLimitReachedType?: RateLimitReachedType | null,
/**
 * The second span of time.
 */
secondary?: RateLimitWindow | null,
/**
 * Whether a limit on spending was reached.
 */
spendControlReached?: boolean | null, };
