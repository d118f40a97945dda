import { array, assert, constantFrom, dictionary, jsonValue, property, string } from 'fast-check'
import { describe, expect, it } from 'vitest'
import { listChanges } from '../../src/domain/audit.ts'
import { firstIdAt, findIdKind, newId } from '../../src/domain/ids.ts'

const names = constantFrom('name', 'status', 'metadata', 'modified', 'subject', 'token', 'count')
const resource = dictionary(names, jsonValue({ maxDepth: 2 }))

const isEmpty = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  value === '' ||
  (typeof value === 'object' && Object.keys(value).length === 0)

describe('the changes in an audit entry', () => {
  it('name every field that differs, once, and no others', () => {
    assert(
      property(resource, resource, (before, after) => {
        const differ = [...new Set([...Object.keys(before), ...Object.keys(after)])].filter(
          (name) =>
            name !== 'modified' &&
            !(isEmpty(before[name]) && isEmpty(after[name])) &&
            JSON.stringify(before[name]) !== JSON.stringify(after[name]),
        )
        expect(listChanges(before, after).map(({ field }) => field)).toEqual(differ)
      }),
    )
  })

  it('are empty for equal resources', () => {
    assert(property(resource, (one) => listChanges(one, structuredClone(one)).length === 0))
  })

  it('contain no secret and no content of a message, at any depth', () => {
    const hidden = constantFrom(
      'token',
      'secret',
      'signature',
      'payload',
      'blocks',
      'subject',
      'subject_translations',
      'preheader',
      'sms_body',
      'html',
    )
    assert(
      property(
        array(constantFrom('email_message', 'settings', 'list'), { maxLength: 3 }),
        hidden,
        string(),
        (path, name, text) => {
          const mark = `MARK-${text}-MARK`
          const nested = path.reduce<unknown>((inner, step) => ({ [step]: [inner], other: 1 }), { [name]: mark })
          const changes = listChanges({ field: nested, [name]: 'old' }, { field: 1, [name]: mark })
          expect(JSON.stringify(changes)).not.toContain('MARK')
          expect(changes.map(({ field }) => field)).toContain(name)
        },
      ),
    )
  })

  it('leave out long values', () => {
    const [change] = listChanges({ list: [] }, { list: ['x'.repeat(3000)] })
    expect(change).toEqual({ field: 'list', is_hidden: true })
  })
})

describe('an id', () => {
  it('sorts by its time, also against the first id of a time', () => {
    const at = Date.UTC(2026, 5, 1)
    const ids = [at - 1, at, at + 1].map((time) => newId('audit_entry', time, Math.random))
    expect(ids.map((id) => id >= firstIdAt('audit_entry', at))).toEqual([false, true, true])
  })

  it('has the prefix of its kind, which no other kind has', () => {
    expect(['seg_1', 'usr_1', 'cmp_1', 'x', '', '__proto___1'].map(findIdKind)).toEqual([
      'segment',
      'user',
      'campaign',
      null,
      null,
      null,
    ])
  })
})
