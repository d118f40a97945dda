import type { Ctx } from '../../context.ts'
import type { IncomingFile, ReceivedFile } from '../../domain/files/files.ts'
import { parseJson, readBody } from './body.ts'
import type { AppContext } from '../env.ts'
import type { KeyedRequest } from '../operations/idempotency.ts'
import { logError } from '../log.ts'
import type { Operation } from '../operations/operation.ts'
import { hashOnly, readStreamed, type StreamedBody } from './streamed-body.ts'

/** The destination of the file of a streamed body. */
export interface FileHandling<P, Loaded> {
  /** Stores the bytes while they come in. */
  receive: (ctx: Ctx, file: IncomingFile, at: { params: P; loaded: Loaded }) => Promise<ReceivedFile>
  /** Called when the request is refused, so that nothing refers to the bytes. */
  discard: (ctx: Ctx, file: ReceivedFile) => Promise<unknown>
}

/** The body of one request. It is read at the first call, which comes after the caller was allowed to do this. */
export interface BodySource {
  read: (at: {
    params: unknown
    loaded: unknown
  }) => Promise<{ fields: Record<string, unknown>; received: ReceivedFile | null }>
  /** Identifies the body, for an Idempotency-Key. */
  identity: () => Promise<KeyedRequest['body']>
  /** The fingerprint of a streamed body that was read to its end. */
  digest: () => string | null
  /** False as long as a streamed body was not read to its end. */
  isKnown: () => boolean
  /** Deletes stored bytes after a refusal. */
  settled: <Answer extends { status: number }>(answer: Answer) => Promise<Answer>
}

export function jsonSource(c: AppContext, operation: Operation): BodySource {
  let bytes: ReturnType<typeof readBody> | undefined
  const readBytes = async () => (operation.method === 'get' ? new Uint8Array() : (bytes ??= readBody(c)))
  return {
    read: async () => ({ fields: parseJson(await readBytes(), c.req.raw.headers), received: null }),
    identity: readBytes,
    digest: () => null,
    isKnown: () => true,
    settled: async (answer) => answer,
  }
}

export function streamedSource<P, Loaded>(
  c: AppContext,
  ctx: Ctx,
  operation: Operation,
  { receive, discard }: FileHandling<P, Loaded>,
): BodySource {
  const { stream: spec } = operation
  if (!spec) throw new Error(`${operation.id} receives a file and declares none.`)
  let reading: Promise<StreamedBody<ReceivedFile>> | undefined
  let stored: ReceivedFile | undefined
  let known: StreamedBody<ReceivedFile> | undefined
  const readOnce = async (at: { params: P; loaded: Loaded }) => {
    known = await readStreamed(c, spec, async (file) => (stored = await receive(ctx, file, at)))
    return known
  }
  return {
    async read(at) {
      reading ??= readOnce(at as { params: P; loaded: Loaded })
      const { fields, file } = await reading
      return { fields, received: file }
    },
    identity: async () => ({
      maxReadMs: spec.maxReadMs,
      read: async () => (await readStreamed(c, spec, hashOnly)).digest,
    }),
    digest: () => known?.digest ?? null,
    isKnown: () => known !== undefined,
    async settled(answer) {
      // After an unexpected error rows may refer to the bytes: the sweep decides.
      if (answer.status >= 400 && answer.status < 500 && stored)
        await discard(ctx, stored).catch((error: unknown) => logError(ctx.requestId, error))
      return answer
    },
  }
}
