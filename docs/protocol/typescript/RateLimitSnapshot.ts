// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { CreditsSnapshot } from "./CreditsSnapshot";
import type { PlanType } from "./PlanType";
import type { RateLimitReachedType } from "./RateLimitReachedType";
import type { RateLimitWindow } from "./RateLimitWindow";
import type { SpendControlLimitSnapshot } from "./SpendControlLimitSnapshot";

/**
 * Usage of an account's limits.
 */
export type RateLimitSnapshot = {
/**
 * Credits of the account.
 */
credits?: CreditsSnapshot | null,
/**
 * Spending limit of this user.
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
 * Model that the limit applies to.
 */
normalModelSlug?: string | null,
/**
 * The kind of subscription.
 */
planType?: PlanType | null,
/**
 * First time window.
 */
primary?: RateLimitWindow | null,
/**
 * The limit that was reached.
 */
rateLimitReachedType?: RateLimitReachedType | null,
/**
 * Second time window.
 */
secondary?: RateLimitWindow | null,
/**
 * Whether a spending limit was reached.
 */
spendControlReached?: boolean | null, };
