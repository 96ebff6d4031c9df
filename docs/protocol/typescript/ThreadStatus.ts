// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { ThreadActiveFlag } from "./ThreadActiveFlag";

/**
 * Status of a thread.
 */
export type ThreadStatus = { "type": "notLoaded" } | { "type": "idle" } | { "type": "systemError" } | { "type": "active",
/**
 * What the thread waits for. Empty while it works.
 */
activeFlags: Array<ThreadActiveFlag>, };
