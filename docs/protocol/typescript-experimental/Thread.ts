// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { AbsolutePath } from "./AbsolutePath";
import type { GitInfo } from "./GitInfo";
import type { SessionSource } from "./SessionSource";
import type { ThreadEnvironment } from "./ThreadEnvironment";
import type { ThreadExtra } from "./ThreadExtra";
import type { ThreadHistoryMode } from "./ThreadHistoryMode";
import type { ThreadSection } from "./ThreadSection";
import type { ThreadStatus } from "./ThreadStatus";
import type { Turn } from "./Turn";

/**
 * A thread with its turns.
 */
export type Thread = {
/**
 * Id of the thread.
 */
id: string,
/**
 * Version of the program that created the thread.
 */
cliVersion: string,
/**
 * Creation time in Unix seconds.
 */
createdAt: number,
/**
 * The working directory.
 */
cwd: AbsolutePath,
/**
 * Whether the thread is never stored in a file.
 */
ephemeral: boolean,
/**
 * Id of the model provider.
 */
modelProvider: string,
/**
 * Beginning of the first input of the user.
 */
preview: string,
/**
 * Id of the project that it belongs to. `null` if there is none.
 */
projectId: string | null,
/**
 * Id of the root thread of the tree.
 */
sessionId: string,
/**
 * What started the thread.
 */
source: SessionSource,
/**
 * The status.
 */
status: ThreadStatus,
/**
 * The turns, oldest first. Empty unless they were requested.
 */
turns: Array<Turn>,
/**
 * Time of the last change in Unix seconds.
 */
updatedAt: number,
/**
 * Nickname of the thread's agent. `null` if no agent spawned the thread.
 */
agentNickname?: string | null,
/**
 * The role of the thread's agent.
 */
agentRole?: string | null,
/**
 * Id of the thread that this one is attached to.
 */
attachedToThreadId?: string | null,
/**
 * Whether a client may start turns. False for threads of child agents.
 */
canAcceptDirectInput?: boolean | null,
/**
 * Whether the user wants the provider's access program for defenders. The server only stores it for clients.
 */
daybreakEnabled?: boolean | null,
/**
 * Environments in which commands run.
 */
environments?: Array<ThreadEnvironment> | null,
/**
 * Reserved for additional fields.
 */
extra?: ThreadExtra | null,
/**
 * Id of the thread that this one was forked from.
 */
forkedFromId?: string | null,
/**
 * The Git repository that it works in. `null` if there is none.
 */
gitInfo?: GitInfo | null,
/**
 * How the history is stored.
 */
historyMode?: ThreadHistoryMode | null,
/**
 * Name of the model, if it is known.
 */
model?: string | null,
/**
 * Title that the user gave. `null` if there is none.
 */
name?: string | null,
/**
 * Name of the client that created it.
 */
originator?: string | null,
/**
 * Id of the parent's thread.
 */
parentThreadId?: string | null,
/**
 * Path of the file in which it is stored. `null` if it is never stored.
 */
path?: string | null,
/**
 * Reasoning effort of the model.
 */
reasoningEffort?: string | null,
/**
 * Time of the last activity that matters to the user, in Unix seconds.
 */
recencyAt?: number | null,
/**
 * Section that contains the thread.
 */
section?: ThreadSection | null,
/**
 * Time when it was put into the section, in Unix seconds.
 */
sectionEnteredAt?: number | null,
/**
 * Purpose of the thread in the words of the client.
 */
threadSource?: string | null, };
