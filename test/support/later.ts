import { vi } from 'vitest'

/** Runs `work` as if this much time had passed. */
export async function later<Result>(ms: number, work: () => Promise<Result>): Promise<Result> {
  const spy = vi.spyOn(Date, 'now').mockReturnValue(Date.now() + ms)
  try {
    return await work()
  } finally {
    spy.mockRestore()
  }
}
