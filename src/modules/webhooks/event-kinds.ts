import { z } from '@hono/zod-openapi'
import { eventKindNames, eventKinds } from '../../domain/webhooks.ts'
import { examplePayload } from './example-contract.ts'
import { payloadOf } from './payload-contract.ts'

// As an input, so that the schema leaves room for fields that are added one day.
const describe = () =>
  eventKindNames.map((kind) => ({
    kind,
    meaning: eventKinds[kind],
    schema: z.toJSONSchema(payloadOf(kind), { io: 'input' }) as Record<string, unknown>,
    example: examplePayload(kind) as Record<string, unknown>,
  }))

let catalogue: ReturnType<typeof describe> | undefined

/** All kinds of events; the same as long as the program is. */
export const listEventKinds = () => ({ results: (catalogue ??= describe()) })
