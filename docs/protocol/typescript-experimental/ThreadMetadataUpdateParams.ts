// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { ThreadMetadataGitInfoUpdateParams } from "./ThreadMetadataGitInfoUpdateParams";

/**
 * Params of `thread/metadata/update`.
 */
export type ThreadMetadataUpdateParams = {
/**
 * Id of the thread.
 */
threadId: string,
/**
 * Whether the user wants the provider's access program for defenders. The server only stores it for clients.
 */
daybreakEnabled?: boolean | null,
/**
 * Changes of the stored state of the Git repository.
 */
gitInfo?: ThreadMetadataGitInfoUpdateParams | null,
/**
 * Id of the project. An empty string means no project.
 */
projectId?: string | null, };
