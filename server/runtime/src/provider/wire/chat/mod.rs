//! The Chat Completions wire, as OpenAI, Ollama, llama.cpp, vLLM, LM Studio and many others speak it.

mod answer;
mod body;
mod json_end;

pub(super) use answer::ChunkReader;
pub(super) use body::body;
