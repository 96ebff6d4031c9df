// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { PlanType } from "./PlanType";

/**
 * An account with a model provider.
 */
export type Account = { "type": "apiKey" } | { "type": "chatgpt",
/**
 * Email address of the user.
 */
email: string | null,
/**
 * The kind of subscription.
 */
planType: PlanType,
/**
 * Name of the workspace.
 */
workspaceName?: string | null, } | { "type": "amazonBedrock",
/**
 * Whether the program manages the credentials.
 */
usesCodexManagedCredentials?: boolean | null, } | { "type": "gcp" };
