// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { ReviewDelivery } from "./ReviewDelivery";
import type { ReviewTarget } from "./ReviewTarget";

/**
 * Params of `review/start`.
 */
export type ReviewStartParams = {
/**
 * Id of the thread.
 */
threadId: string,
/**
 * What is reviewed.
 */
target: ReviewTarget,
/**
 * Where the review takes place. In the thread itself if absent.
 */
delivery?: ReviewDelivery | null, };
