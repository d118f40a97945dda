import { notifications } from '@mantine/notifications'
import { useEffect, useRef, useState } from 'react'
import { queries } from '../../api'
import { useCaller } from '../../caller'
import { loadWords } from '../../words'
import { judgeTicket, type RefusalReason, type Ticket } from './judgement'
import { listForgotten, redeem } from './redeem'
import { addScan, beginScans, changeScan, type Scan } from './scan-store'
import { findTickets, isUnanswered, loadTicket, sendUse } from './service-calls'

const t = await loadWords('purchases')

/** The view of the last scan at the entrance. */
export type View =
  | { kind: 'idle' }
  | { kind: 'searching'; code: string }
  | { kind: 'choice'; code: string; tickets: readonly Ticket[] }
  | { kind: 'ready'; code: string; ticket: Ticket }
  | { kind: 'waiting'; code: string; ticket: Ticket }
  | { kind: 'in'; code: string; ticket: Ticket }
  | { kind: 'refused'; code: string; ticket: Ticket | null; reason: RefusalReason; similar: readonly Ticket[] }
  | { kind: 'failed'; code: string; error: Error }

const repeatMs = 2000
const rest = () => new Promise<void>((resolve) => setTimeout(resolve, repeatMs))

const toError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)))

interface Options {
  edition: string
  location: string | null
  /** True if a ticket that is valid is used at once, without a second Enter. */
  isImmediate: boolean
  /** The reason for which this person may not use tickets. Null if the person may. */
  refusal: string | null
}

export interface CheckInState {
  view: View
  /** Looks for what was scanned or typed. */
  scan: (text: string) => void
  /** Shows one of several tickets. */
  choose: (ticket: Ticket) => void
  /** Uses the ticket that is shown, or repeats a search that failed. */
  letIn: () => void
  clear: () => void
}

const buildScan = (ticket: Ticket | null, code: string, edition: string): Omit<Scan, 'outcome' | 'reason'> => ({
  id: crypto.randomUUID(),
  edition,
  code,
  at: new Date().toISOString(),
  ticket: ticket && {
    id: ticket.id,
    order: ticket.order.id,
    product: ticket.product.name,
    holder: ticket.user.full_name,
  },
  location: null,
  use: null,
})

/** Uses of which the page forgot the answer are sent again, with their first key. */
function useForgottenScans(edition: string): void {
  const owner = useCaller()?.id
  useEffect(() => {
    if (owner === undefined) return
    beginScans(owner)
    for (const scan of listForgotten().filter((one) => one.edition === edition))
      void redeem(scan, { send: sendUse, isUnanswered, pause: rest }).then(announceLate, () => undefined)
  }, [owner, edition])
}

/** Tells the person what became of a scan that is no longer on the screen. */
const announceLate = ({ ticket, code, outcome, reason }: Scan): void => {
  const message = `${ticket?.holder ?? code} · ${ticket?.product ?? ''}`
  if (outcome === 'in') notifications.show({ title: t.lateYes, message, color: 'teal' })
  else
    notifications.show({
      title: `${t.lateNo} ${t.reasons[reason ?? 'unknown']}`,
      message,
      color: 'red',
      autoClose: false,
    })
}

export function useCheckIn({ edition, location, isImmediate, refusal }: Options): CheckInState {
  const [view, setView] = useState<View>({ kind: 'idle' })
  const current = useRef(new AbortController())
  useForgottenScans(edition)

  /** Ends the search before this one. What comes back later is not shown. */
  const begin = (): AbortSignal => {
    current.current.abort()
    current.current = new AbortController()
    return current.current.signal
  }

  const refuse = (code: string, ticket: Ticket | null, reason: RefusalReason, similar: readonly Ticket[] = []) => {
    addScan({ ...buildScan(ticket, code, edition), outcome: 'refused', reason })
    setView({ kind: 'refused', code, ticket, reason, similar })
  }

  const spend = async (ticket: Ticket, code: string, signal: AbortSignal) => {
    const scan: Scan = { ...buildScan(ticket, code, edition), location, outcome: 'waiting', reason: null }
    addScan(scan)
    setView({ kind: 'waiting', code, ticket })
    try {
      const result = await redeem(scan, { send: sendUse, isUnanswered, pause: rest })
      void queries.invalidateQueries()
      if (signal.aborted) return announceLate(result)
      const fresh = await loadTicket(ticket.id, signal).catch(() => ticket)
      if (signal.aborted) return
      if (result.outcome === 'in') setView({ kind: 'in', code, ticket: fresh })
      else setView({ kind: 'refused', code, ticket: fresh, reason: result.reason ?? 'unknown', similar: [] })
    } catch (error) {
      if (!signal.aborted) setView({ kind: 'failed', code, error: toError(error) })
    }
  }

  const show = async (ticket: Ticket, code: string, signal: AbortSignal) => {
    const judgement = judgeTicket(ticket, Date.now())
    if (!judgement.mayEnter) return refuse(code, ticket, judgement.reason)
    if (isImmediate && refusal === null) return spend(ticket, code, signal)
    setView({ kind: 'ready', code, ticket })
  }

  const scan = async (code: string) => {
    const signal = begin()
    setView({ kind: 'searching', code })
    try {
      const { exact, similar } = await findTickets(edition, code, signal)
      const tickets = await Promise.all(exact.map(({ id }) => loadTicket(id, signal)))
      if (signal.aborted) return
      const [ticket] = tickets
      if (ticket === undefined) refuse(code, null, 'unknown', similar)
      else if (tickets.length > 1) setView({ kind: 'choice', code, tickets })
      else await show(ticket, code, signal)
    } catch (error) {
      if (!signal.aborted) setView({ kind: 'failed', code, error: toError(error) })
    }
  }

  return {
    view,
    scan: (text) => void scan(text),
    // A ticket that was chosen by hand is looked at before it is used.
    choose: (ticket) => {
      begin()
      const judgement = judgeTicket(ticket, Date.now())
      const code = ticket.vendor_code ?? ticket.id
      if (judgement.mayEnter) setView({ kind: 'ready', code, ticket })
      else refuse(code, ticket, judgement.reason)
    },
    letIn: () => {
      if (view.kind === 'ready' && refusal === null) void spend(view.ticket, view.code, begin())
      else if (view.kind === 'failed') void scan(view.code)
    },
    clear: () => {
      begin()
      setView({ kind: 'idle' })
    },
  }
}

/** Marks the scan of a use that was reverted. */
export const markReverted = (id: string): void => changeScan(id, { outcome: 'reverted' })
