import type { Words } from '../en'

export const segments: Words['segments'] = {}
