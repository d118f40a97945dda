import type { Reply } from './api.ts'

export const codes = (reply: Reply): { status: number; errors: string[] } => ({
  status: reply.status,
  errors: (reply.body.errors as { pointer: string; code: string }[]).map((error) => `${error.pointer} ${error.code}`),
})

export const buildRefusal = (...errors: string[]) => ({ status: 400, errors })

export const ids = (reply: Reply): string[] => reply.body.results.map((item: { id: string }) => item.id)
