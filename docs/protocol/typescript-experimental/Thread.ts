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
 * A conversation with its turns.
 */
export type Thread = {
/**
 * The id.
 */
id: string,
/**
 * The version of the program that made the thread.
 */
cliVersion: string,
/**
 * When it began, in Unix seconds.
 */
createdAt: number,
/**
 * The working directory.
 */
cwd: AbsolutePath,
/**
 * Whether it is never stored.
 */
ephemeral: boolean,
/**
 * The model provider.
 */
modelProvider: string,
/**
 * The first words of the user.
 */
preview: string,
/**
 * The project that it belongs to; `null` where there is none.
 */
projectId: string | null,
/**
 * The first thread of the tree that this one belongs to.
 */
sessionId: string,
/**
 * What started it.
 */
source: SessionSource,
/**
 * How far it is, or what became of it.
 */
status: ThreadStatus,
/**
 * The turns, the oldest first; empty unless they were asked for.
 */
turns: Array<Turn>,
/**
 * When it last changed, in Unix seconds.
 */
updatedAt: number,
/**
 * The name that the thread's agent goes by; `null` for a thread that no agent started.
 */
agentNickname?: string | null,
/**
 * The role of the thread's agent.
 */
agentRole?: string | null,
/**
 * The thread that this one belongs to.
 */
attachedToThreadId?: string | null,
/**
 * Whether a client may start turns; not in the threads of agents.
 */
canAcceptDirectInput?: boolean | null,
/**
 * Whether the user wants the provider's program for defenders; kept for the client.
 */
daybreakEnabled?: boolean | null,
/**
 * Where commands run.
 */
environments?: Array<ThreadEnvironment> | null,
/**
 * Room for more.
 */
extra?: ThreadExtra | null,
/**
 * The thread that this one is a copy of.
 */
forkedFromId?: string | null,
/**
 * The repository that it works in; `null` where there is none.
 */
gitInfo?: GitInfo | null,
/**
 * How the history is stored.
 */
historyMode?: ThreadHistoryMode | null,
/**
 * The model, where it is known.
 */
model?: string | null,
/**
 * The title that the user gave; `null` where there is none.
 */
name?: string | null,
/**
 * The name of the client that began it.
 */
originator?: string | null,
/**
 * The thread whose agent this is.
 */
parentThreadId?: string | null,
/**
 * The file that it is stored in; `null` if it never is.
 */
path?: string | null,
/**
 * How hard the model thinks.
 */
reasoningEffort?: string | null,
/**
 * When something last happened that matters to the user, in Unix seconds.
 */
recencyAt?: number | null,
/**
 * The section that it is in.
 */
section?: ThreadSection | null,
/**
 * When it came there, in Unix seconds.
 */
sectionEnteredAt?: number | null,
/**
 * What the client says the thread is for.
 */
threadSource?: string | null, };
