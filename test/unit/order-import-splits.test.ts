import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { splitFullName } from '../../src/domain/accounts/users.ts'
import { splitLine } from '../../src/domain/data-imports/imported-amounts.ts'

it('a line of an order is split over its units to the cent', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 1e11 }), fc.integer({ min: 1, max: 1000 }), (total, quantity) => {
      const parts = splitLine(total, quantity)
      expect(parts.reduce((sum, part) => sum + part.quantity * part.price_minor, 0)).toBe(total)
      expect(parts.reduce((sum, part) => sum + part.quantity, 0)).toBe(quantity)
      const prices = parts.map((part) => part.price_minor)
      expect(Math.max(...prices) - Math.min(...prices)).toBeLessThanOrEqual(1)
    }),
  )
})

it.each([
  ['Ægir Holm', 'Ægir', 'Holm'],
  ['  Anna   Maria Holm ', 'Anna Maria', 'Holm'],
  ['Holm, Anna Maria', 'Anna Maria', 'Holm'],
  ['Maria de la Cruz', 'Maria', 'de la Cruz'],
  ['von Braun', 'von', 'Braun'],
  ['anna maria holm', 'anna maria', 'holm'],
  ['Cher', 'Cher', ''],
  ['王 小明', '王', '小明'],
  ['', '', ''],
])('a full name is split into first and last names: %j', (text, first_name, last_name) => {
  expect(splitFullName(text)).toEqual({ first_name, last_name })
})

it.each([
  ['Hansen, jr.', '', 'Hansen, jr.'],
  ['Peter Hansen, Jr', 'Peter', 'Hansen, Jr'],
  ['Anna Holm, Ph.D.', 'Anna', 'Holm, Ph.D.'],
  ['Henry Ford, III', 'Henry', 'Ford, III'],
  ['Hansen, Peter', 'Peter', 'Hansen'],
  ['Iversen, Iv', 'Iv', 'Iversen'],
  ['Iversen, IV', '', 'Iversen, IV'],
  ['Hansen, Anna, jr.', 'Anna', 'Hansen, jr.'],
  ['John Smith, Ph.D., MBA', 'John', 'Smith, Ph.D., MBA'],
  ['Dr. Anna Hansen, MD, PhD', 'Dr. Anna', 'Hansen, MD, PhD'],
  ['Smith, Dr.', '', 'Smith, Dr.'],
  ['Smith, Dr. Anna', 'Dr. Anna', 'Smith'],
  ['Jens Nielsen, d.y.', 'Jens', 'Nielsen, d.y.'],
  ['Anna Hansen, dipl.-ing.', 'Anna', 'Hansen, dipl.-ing.'],
  ['Hansen，jr.', '', 'Hansen, jr.'],
  ['"Hansen, jr."', '', 'Hansen, jr.'],
  ['Hansen,Anna', 'Anna', 'Hansen'],
  ['Hansen, ', '', 'Hansen'],
  [', Anna', 'Anna', ''],
  ['Li, Ma', 'Ma', 'Li'],
])('a full name keeps its suffix in the last name: "%s"', (text, first_name, last_name) => {
  expect(splitFullName(text)).toEqual({ first_name, last_name })
})
