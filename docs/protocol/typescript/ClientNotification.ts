// Made by `trace schema --ts` from the server's types. Changes here are lost.

export type ClientNotification = { "method": "initialized" };
