// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { RateLimitSnapshot } from "./RateLimitSnapshot";

/**
 * Params of the notification `account/rateLimits/updated`.
 */
export type AccountRateLimitsUpdatedNotification = {
/**
 * The limits.
 */
rateLimits: RateLimitSnapshot, };
