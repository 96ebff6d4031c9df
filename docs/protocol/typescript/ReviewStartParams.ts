// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { ReviewDelivery } from "./ReviewDelivery";
import type { ReviewTarget } from "./ReviewTarget";

/**
 * Params of `review/start`.
 */
export type ReviewStartParams = {
/**
 * The thread.
 */
threadId: string,
/**
 * What is reviewed.
 */
target: ReviewTarget,
/**
 * Where the review takes place; in the thread itself if nothing is said.
 */
delivery?: ReviewDelivery | null, };
