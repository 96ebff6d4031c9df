// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Result of ending a subscription.
 */
export type ThreadUnsubscribeStatus = "notLoaded" | "notSubscribed" | "unsubscribed";
