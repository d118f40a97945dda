import type { Ctx } from '../../context.ts'
import type { IncomingFile, ReceivedFile } from '../../domain/files/files.ts'
import type { AppContext } from '../env.ts'
import { logError } from '../log.ts'
import type { KeyedRequest } from '../operations/idempotency.ts'
import type { Operation } from '../operations/operation.ts'
import { parseJson, readBody } from './body.ts'
import { hashOnly, readStreamed, type StreamedBody } from './streamed-body.ts'

/** Stores the file of a streamed body. */
export interface FileHandling<P, Resource> {
  /** Stores the bytes while they are received. */
  receive: (ctx: Ctx, file: IncomingFile, at: { params: P; resource: Resource }) => Promise<ReceivedFile>
  /** Deletes the bytes if the request is refused. */
  discard: (ctx: Ctx, file: ReceivedFile) => Promise<unknown>
}

/** The body of one request. It is read only after the caller's permission was checked. */
export interface BodySource {
  read: (at: {
    params: unknown
    resource: unknown
  }) => Promise<{ fields: Record<string, unknown>; file: ReceivedFile | null }>
  /** The body, or how to read it again, to compare it with an earlier request of the same Idempotency-Key. */
  identify: () => Promise<KeyedRequest['body']>
  /** The digest of a streamed body, once it was read to its end. */
  digest: () => string | null
  /** True if the body was read to its end. A body that is not streamed always is. */
  isConsumed: () => boolean
  /** Deletes stored bytes if the request was refused. */
  finish: <Response extends { status: number }>(response: Response) => Promise<Response>
}

export function createJsonSource(c: AppContext, operation: Operation): BodySource {
  let bytes: ReturnType<typeof readBody> | undefined
  const readBytes = async () => (operation.method === 'get' ? new Uint8Array() : (bytes ??= readBody(c)))
  return {
    read: async () => ({ fields: parseJson(await readBytes(), c.req.raw.headers), file: null }),
    identify: readBytes,
    digest: () => null,
    isConsumed: () => true,
    finish: async (response) => response,
  }
}

export function createStreamedSource<P, Resource>(
  c: AppContext,
  ctx: Ctx,
  operation: Operation,
  { receive, discard }: FileHandling<P, Resource>,
): BodySource {
  const { stream: spec } = operation
  if (!spec) throw new Error(`${operation.id} receives a file and declares none.`)
  let reading: Promise<StreamedBody<ReceivedFile>> | undefined
  let storedFile: ReceivedFile | undefined
  let streamedBody: StreamedBody<ReceivedFile> | undefined
  const readOnce = async (at: { params: P; resource: Resource }) => {
    streamedBody = await readStreamed(c, spec, async (file) => (storedFile = await receive(ctx, file, at)))
    return streamedBody
  }
  return {
    async read(at) {
      reading ??= readOnce(at as { params: P; resource: Resource })
      const { fields, file } = await reading
      return { fields, file: file }
    },
    identify: async () => ({
      maxReadMs: spec.maxReadMs,
      read: async () => (await readStreamed(c, spec, hashOnly)).digest,
    }),
    digest: () => streamedBody?.digest ?? null,
    isConsumed: () => streamedBody !== undefined,
    async finish(response) {
      // After an unexpected error, rows may refer to the bytes, so a sweep decides.
      if (response.status >= 400 && response.status < 500 && storedFile)
        await discard(ctx, storedFile).catch((error: unknown) => logError(ctx.requestId, error))
      return response
    },
  }
}
