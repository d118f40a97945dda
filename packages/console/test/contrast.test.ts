import { describe, expect, it } from 'vitest'
import { computeContrast } from '../src/pages/catalogue/contrast'

describe('computeContrast', () => {
  it('is 21 for black on white, in either order', () => {
    expect(computeContrast('#000000', '#ffffff')).toBeCloseTo(21)
    expect(computeContrast('#FFFFFF', '#000000')).toBeCloseTo(21)
  })

  it('is 1 for a colour on itself, and near 4.5 for the grey that just passes', () => {
    expect(computeContrast('#102040', '#102040')).toBeCloseTo(1)
    expect(computeContrast('#767676', '#ffffff')).toBeCloseTo(4.54, 1)
  })

  it('is null for what is no colour', () => {
    expect(computeContrast('', '#ffffff')).toBeNull()
    expect(computeContrast('#fff', '#ffffff')).toBeNull()
    expect(computeContrast('red', '#ffffff')).toBeNull()
  })
})
