import { useEffect } from 'react'
import { hasExpired } from './session'

const forms = new Set<symbol>()

/** Tells that something on the page was typed and is not saved. */
export function useUnsaved(isDirty: boolean): void {
  useEffect(() => {
    if (!isDirty) return undefined
    const form = Symbol('form')
    forms.add(form)
    return () => void forms.delete(form)
  }, [isDirty])
}

/** True if the session expired while something was typed: the page stays open until the person has signed in again. */
export const isHeld = (): boolean => hasExpired() && forms.size > 0
