import { describe, expect, test } from 'vitest'
import { addSample, computeRate, computeTimeLeft, type Sample } from '../src/pages/campaigns/rate'

const sampleEach = (sent: readonly number[], pauseMs = 1000): Sample[] =>
  sent.reduce<Sample[]>((samples, count, index) => addSample(samples, { at: index * pauseMs, sent: count }), [])

describe('the rate of a campaign', () => {
  test('is unknown until two seconds have passed', () => {
    expect(computeRate([])).toBeNull()
    expect(computeRate(sampleEach([0, 100]))).toBeNull()
    expect(computeRate(sampleEach([0, 100, 200]))).toBe(100)
  })

  test('is the rate of the last half minute', () => {
    const slow = Array.from({ length: 40 }, (_, second) => second)
    const fast = Array.from({ length: 31 }, (_, second) => 39 + 50 * (second + 1))
    expect(computeRate(sampleEach([...slow, ...fast]))).toBe(50)
  })

  test('begins anew when fewer are sent than before, as after another start', () => {
    const samples = addSample(sampleEach([500, 600, 700]), { at: 3000, sent: 10 })
    expect(samples).toEqual([{ at: 3000, sent: 10 }])
  })

  test('gives the time left, unless nothing moves', () => {
    expect(computeTimeLeft(1000, 100)).toBe(10)
    expect(computeTimeLeft(1, 100)).toBe(1)
    expect(computeTimeLeft(0, 100)).toBe(0)
    expect(computeTimeLeft(1000, 0)).toBeNull()
    expect(computeTimeLeft(1000, null)).toBeNull()
  })
})
