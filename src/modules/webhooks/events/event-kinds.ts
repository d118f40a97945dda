import { z } from '@hono/zod-openapi'
import { type EventKind, eventKindNames, eventKinds } from '../../../domain/webhooks/webhooks.ts'
import { examplePayload } from './example-contract.ts'
import { payloadOf } from './payload-contract.ts'

/** As of an input, so that it leaves room for fields that are added one day. */
const schemaOf = (kind: EventKind) =>
  z.toJSONSchema(payloadOf(kind), {
    io: 'input',
    override: ({ jsonSchema }) => {
      if (jsonSchema.format === 'date-time') delete jsonSchema.pattern
    },
  }) as Record<string, unknown>

const describe = () =>
  eventKindNames.map((kind) => ({
    kind,
    meaning: eventKinds[kind],
    schema: schemaOf(kind),
    example: examplePayload(kind) as Record<string, unknown>,
  }))

let catalogue: ReturnType<typeof describe> | undefined

/** All kinds of events; the same as long as the program is. */
export const listEventKinds = () => ({ results: (catalogue ??= describe()) })
