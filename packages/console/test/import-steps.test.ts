import { describe, expect, test } from 'vitest'
import { chooseStep, readStep } from '../src/pages/data-imports/steps.ts'

const format = { type: 'csv' } as never

describe('readStep', () => {
  test.each([
    ['draft', null, null, 'file'],
    ['parsing', null, null, 'file'],
    ['mapping_columns', null, format, 'columns'],
    ['processing_columns', null, format, 'columns'],
    ['mapping_products', null, format, 'products'],
    ['ready', null, format, 'preview'],
    ['importing', '2026-06-01T08:00:00Z', format, 'report'],
    ['undone', '2026-06-01T08:00:00Z', format, 'report'],
    ['failed', null, null, 'file'],
    ['failed', null, format, 'columns'],
    ['failed', '2026-06-01T08:00:00Z', format, 'report'],
    ['cancelled', null, format, 'columns'],
  ] as const)('%s begun at %s is at the right step', (status, started_at, file_format, step) => {
    expect(readStep({ status, started_at, file_format })).toBe(step)
  })
})

test('the address leads back, and never further than the import has come', () => {
  expect(chooseStep('preview', 'columns')).toBe('columns')
  expect(chooseStep('columns', 'report')).toBe('columns')
  expect(chooseStep('columns', undefined)).toBe('columns')
})
