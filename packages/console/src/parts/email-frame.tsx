import { Box, Code, Group, Paper, SegmentedControl, Stack, Text } from '@mantine/core'
import { useElementSize } from '@mantine/hooks'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { words } from '../words'

interface Props {
  html: string
  text: string
  subject: string
  preheader?: string
  /** The sender as inboxes show it. */
  from?: string | null
  /** The height of the mail in pixels. */
  height?: number
  /** More choices, such as the language, beside that of the width. */
  controls?: ReactNode
}

const t = words.common.emailFrame
const phoneWidth = 375
/** A narrower window would show the layout for phones. */
const desktopWidth = 700

/** An e-mail as recipients see it: the line of the inbox, and the mail at the width of a desktop or a phone, or as text. */
export function EmailFrame({ html, text, subject, preheader = '', from, height = 560, controls }: Props) {
  const [view, setView] = useState<'desktop' | 'phone' | 'text'>('desktop')
  return (
    <Stack gap="xs">
      <Group gap="xs" justify="space-between">
        <SegmentedControl
          aria-label={t.view}
          size="xs"
          value={view}
          onChange={setView}
          data={[
            { value: 'desktop', label: t.desktop },
            { value: 'phone', label: t.phone },
            { value: 'text', label: t.text },
          ]}
        />
        {controls}
      </Group>
      <Paper withBorder px="sm" py={6}>
        {from && (
          <Text size="sm" fw={600} className="break">
            {from}
          </Text>
        )}
        <Text size="sm" lineClamp={2} className="break">
          {subject || t.noSubject}{' '}
          <Text span c="dimmed">
            {preheader}
          </Text>
        </Text>
      </Paper>
      {view === 'text' ? (
        <Code block className="code" h={height} tabIndex={0} role="region" aria-label={t.text}>
          {text}
        </Code>
      ) : (
        <Mail html={html} width={view === 'phone' ? phoneWidth : desktopWidth} isWide={view === 'desktop'} h={height} />
      )}
    </Stack>
  )
}

/** The frame has the policy of its page: no script runs in it, and it may be of our origin for that reason alone. */
function Mail({ html, width, isWide, h }: { html: string; width: number; isWide: boolean; h: number }) {
  const frame = useRef<HTMLIFrameElement>(null)
  const [isReady, setReady] = useState(false)
  const { ref, width: room } = useElementSize()
  useEffect(() => {
    const page = frame.current?.contentDocument
    if (isReady && page) writeMail(page, html)
  }, [html, isReady])
  const scale = room === 0 ? 1 : Math.min(1, room / width)
  return (
    <Box ref={ref} h={h} className="mail">
      <iframe
        ref={frame}
        title={t.title}
        src="/console/preview"
        sandbox="allow-same-origin allow-popups allow-popups-to-escape-sandbox"
        onLoad={() => setReady(true)}
        style={{
          width: isWide && scale === 1 ? '100%' : width,
          height: h / scale,
          transform: scale === 1 ? undefined : `scale(${scale})`,
        }}
      />
    </Box>
  )
}

/** Elements that are written so run no scripts. Links open in a tab of their own, and lead to pages alone. */
function writeMail(page: Document, html: string): void {
  page.documentElement.innerHTML = html
  for (const link of page.querySelectorAll('a, area')) {
    link.setAttribute('target', '_blank')
    link.setAttribute('rel', 'noopener noreferrer')
    if (!/^(?:https?|mailto|tel):/i.test(link.getAttribute('href') ?? '')) link.removeAttribute('href')
  }
}
