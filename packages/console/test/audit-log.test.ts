import { expect, it } from 'vitest'
import { roles } from '../src/generated/roles'
import { auditLog } from '../src/words/en/audit-log'

it('has a word for what each operation of the audit log does', () => {
  const verbs = Object.entries(roles).flatMap(([operation, { isWrite }]) =>
    isWrite ? [/^[a-z]+/.exec(operation)?.[0] ?? ''] : [],
  )
  expect([...new Set(verbs)].filter((verb) => !(verb in auditLog.verbs))).toEqual([])
})
