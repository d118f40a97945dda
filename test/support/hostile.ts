import { expect } from 'vitest'
import { findMessageFaults } from '../../src/domain/email/check.ts'
import { compile } from '../../src/domain/email/compile.ts'
import { buildSampleContext } from '../../src/domain/email/liquid/variables.ts'
import { personalise } from '../../src/domain/email/personalise.ts'
import { measureFloor } from './measure-floor.ts'
import { aMessageOf, framing } from './messages.ts'

export const richText = (en: string) => ({ id: 'x', type: 'rich_text', data: { text: { en } } }) as const
/** Bounded work takes at most twice as long as the floor, and unbounded work some hundred times. */
const mostFloors = 20
/** Faster work is not compared. */
const quickMs = 5
const mostAttempts = 20

/** Lists work that is slow in each of many tries, because a busy machine makes a few tries slow. */
export function timed<T>(work: () => T): T {
  for (let attempt = 1; ; attempt++) {
    const start = performance.now()
    const result = work()
    const ms = performance.now() - start
    if (ms < quickMs) return result
    const floorMs = measureFloor()
    if (ms < mostFloors * floorMs) return result
    expect(attempt, `took ${ms} ms, the floor ${floorMs} ms`).toBeLessThan(mostAttempts)
  }
}

/** Saves and renders a template as the service does, or returns null when it was refused. */
export function renderTemplate(en: string): { html: string; text: string } | null {
  if (timed(() => findMessageFaults({ blocks: [richText(en)] })).length) return null
  const template = compile(aMessageOf(richText(en)), 'en', framing)
  return timed(() => personalise(template, buildSampleContext()))
}

// The first compilation starts the engine.
compile(aMessageOf(), 'en', framing)
