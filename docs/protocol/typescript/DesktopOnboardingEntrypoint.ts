// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * What brought somebody to the login of the desktop program.
 */
export type DesktopOnboardingEntrypoint = "life_sciences";
