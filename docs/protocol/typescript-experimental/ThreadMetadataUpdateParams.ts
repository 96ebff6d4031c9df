// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { ThreadMetadataGitInfoUpdateParams } from "./ThreadMetadataGitInfoUpdateParams";

/**
 * Params of `thread/metadata/update`.
 */
export type ThreadMetadataUpdateParams = {
/**
 * The thread.
 */
threadId: string,
/**
 * Whether the user wants the provider's program for defenders; kept for the client.
 */
daybreakEnabled?: boolean | null,
/**
 * What changes of what is known of the repository.
 */
gitInfo?: ThreadMetadataGitInfoUpdateParams | null,
/**
 * The project; an empty text for none.
 */
projectId?: string | null, };
