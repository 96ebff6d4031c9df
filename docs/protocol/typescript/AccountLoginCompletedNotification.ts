// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { DesktopOnboardingEntrypoint } from "./DesktopOnboardingEntrypoint";

/**
 * Params of the notification `account/login/completed`.
 */
export type AccountLoginCompletedNotification = {
/**
 * Id of a login that took several steps.
 */
loginId?: string | null,
/**
 * Whether the login succeeded.
 */
success: boolean,
/**
 * Why it failed.
 */
error?: string | null,
/**
 * What brought the user to the login.
 */
onboardingEntrypoint?: DesktopOnboardingEntrypoint | null, };
