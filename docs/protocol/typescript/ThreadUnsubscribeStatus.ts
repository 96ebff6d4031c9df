// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * What became of a subscription.
 */
export type ThreadUnsubscribeStatus = "notLoaded" | "notSubscribed" | "unsubscribed";
