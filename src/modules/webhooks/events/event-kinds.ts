import { z } from '@hono/zod-openapi'
import { type EventKind, eventKindNames, eventKinds } from '../../../domain/webhooks/webhooks.ts'
import { examplePayload } from './example-contract.ts'
import { payloadOf } from './payload-contract.ts'

/** The JSON schema is that of an input, because it allows further fields: some may be added later. */
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

/** All kinds of events, which never change while the program runs. */
export const listEventKinds = () => ({ results: (catalogue ??= describe()) })
