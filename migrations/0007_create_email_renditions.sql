-- Compiled messages: one of each message, sending edition and language, known by the hash of all that went into it.
create table email_renditions (
  message_id text not null references email_messages (id) on delete cascade,
  -- The edition that sends it; empty for none.
  edition_id text not null default '',
  language text not null,
  content_hash text not null,
  subject text not null,
  html text not null,
  text text not null,
  created_at integer not null,
  primary key (message_id, edition_id, language)
) strict, without rowid;

create index email_messages_of_edition on email_messages (edition_id, created_at, id) where edition_id is not null;

-- What the platform brings along, for organisations to adopt.
insert into email_messages
  (id, organization_id, edition_id, title, subject, type, scope, template, is_locked, blocks, created_at, modified_at)
values
  ('eml_0000000000000000000RECEIPT', null, null, 'Receipt',
  '{"en":"Your order {{ order.number }}","da":"Din ordre {{ order.number }}","se":"Din beställning {{ order.number }}","nl":"Je bestelling {{ order.number }}","pl":"Twoje zamówienie {{ order.number }}"}',
  'receipt', 'platform', 'modern', 1,
  '[{"id":"blk_00000000000000000000000000","type":"heading","data":{"text":{"en":"Thank you for your order","da":"Tak for din ordre","se":"Tack för din beställning","nl":"Bedankt voor je bestelling","pl":"Dziękujemy za zamówienie"}}},{"id":"blk_00000000000000000000000001","type":"rich_text","data":{"text":{"en":"<p>Hello {{ customer.first_name }},</p><p>Your order <strong>{{ order.number }}</strong> of {{ order.date }} for {{ edition.name }} is confirmed. This message is your receipt.</p>","da":"<p>Hej {{ customer.first_name }},</p><p>Din ordre <strong>{{ order.number }}</strong> fra {{ order.date }} til {{ edition.name }} er bekræftet. Denne besked er din kvittering.</p>","se":"<p>Hej {{ customer.first_name }},</p><p>Din beställning <strong>{{ order.number }}</strong> från {{ order.date }} till {{ edition.name }} är bekräftad. Det här meddelandet är ditt kvitto.</p>","nl":"<p>Hallo {{ customer.first_name }},</p><p>Je bestelling <strong>{{ order.number }}</strong> van {{ order.date }} voor {{ edition.name }} is bevestigd. Dit bericht is je bon.</p>","pl":"<p>Cześć {{ customer.first_name }},</p><p>Twoje zamówienie <strong>{{ order.number }}</strong> z {{ order.date }} na {{ edition.name }} zostało potwierdzone. Ta wiadomość jest Twoim potwierdzeniem zakupu.</p>"}}},{"id":"blk_00000000000000000000000002","type":"order_summary","data":{}},{"id":"blk_00000000000000000000000003","type":"rich_text","data":{"text":{"en":"<p>Keep this message. If something is wrong with your order, reply to it.</p>","da":"<p>Gem denne besked. Svar på den, hvis noget er galt med din ordre.</p>","se":"<p>Spara det här meddelandet. Svara på det om något är fel med din beställning.</p>","nl":"<p>Bewaar dit bericht. Beantwoord het als er iets mis is met je bestelling.</p>","pl":"<p>Zachowaj tę wiadomość. Jeśli coś się nie zgadza, odpowiedz na nią.</p>"}}},{"id":"blk_00000000000000000000000004","type":"footer","data":{"text":{},"show_unsubscribe":false}}]',
  1767225600000, 1767225600000);

insert into email_messages
  (id, organization_id, edition_id, title, subject, type, scope, template, is_locked, blocks, created_at, modified_at)
values
  ('eml_00000000000000000000REFUND', null, null, 'Refund confirmation',
  '{"en":"Your refund of {{ refund.amount }}","da":"Din refusion på {{ refund.amount }}","se":"Din återbetalning på {{ refund.amount }}","nl":"Je terugbetaling van {{ refund.amount }}","pl":"Twój zwrot {{ refund.amount }}"}',
  'refund_confirmation', 'platform', 'modern', 1,
  '[{"id":"blk_00000000000000000000010000","type":"heading","data":{"text":{"en":"Your refund is on its way","da":"Din refusion er på vej","se":"Din återbetalning är på väg","nl":"Je terugbetaling is onderweg","pl":"Twój zwrot jest w drodze"}}},{"id":"blk_00000000000000000000010001","type":"rich_text","data":{"text":{"en":"<p>Hello {{ customer.first_name }},</p><p>We have refunded <strong>{{ refund.amount }}</strong> for {{ purchase.product }} ({{ edition.name }}, order {{ order.number }}).</p><p>It reaches you the way that you paid, usually within 5 to 10 working days.</p>","da":"<p>Hej {{ customer.first_name }},</p><p>Vi har refunderet <strong>{{ refund.amount }}</strong> for {{ purchase.product }} ({{ edition.name }}, ordre {{ order.number }}).</p><p>Pengene kommer samme vej, som du betalte, normalt inden for 5 til 10 hverdage.</p>","se":"<p>Hej {{ customer.first_name }},</p><p>Vi har återbetalat <strong>{{ refund.amount }}</strong> för {{ purchase.product }} ({{ edition.name }}, beställning {{ order.number }}).</p><p>Pengarna kommer samma väg som du betalade, oftast inom 5 till 10 vardagar.</p>","nl":"<p>Hallo {{ customer.first_name }},</p><p>We hebben <strong>{{ refund.amount }}</strong> terugbetaald voor {{ purchase.product }} ({{ edition.name }}, bestelling {{ order.number }}).</p><p>Je krijgt het terug zoals je hebt betaald, meestal binnen 5 tot 10 werkdagen.</p>","pl":"<p>Cześć {{ customer.first_name }},</p><p>Zwróciliśmy <strong>{{ refund.amount }}</strong> za {{ purchase.product }} ({{ edition.name }}, zamówienie {{ order.number }}).</p><p>Pieniądze wrócą tą samą drogą, którą zapłacono, zwykle w ciągu 5–10 dni roboczych.</p>"}}},{"id":"blk_00000000000000000000010002","type":"footer","data":{"text":{},"show_unsubscribe":false}}]',
  1767225600000, 1767225600000);

insert into email_messages
  (id, organization_id, edition_id, title, subject, type, scope, template, is_locked, blocks, created_at, modified_at)
values
  ('eml_0000000000000000000000NEWS', null, null, 'Newsletter',
  '{"en":"News from {{ edition.name }}","da":"Nyt fra {{ edition.name }}","se":"Nytt från {{ edition.name }}","nl":"Nieuws van {{ edition.name }}","pl":"Nowości z {{ edition.name }}"}',
  'campaign', 'platform', 'modern', 1,
  '[{"id":"blk_00000000000000000000020000","type":"heading","data":{"text":{"en":"News from {{ edition.name }}","da":"Nyt fra {{ edition.name }}","se":"Nytt från {{ edition.name }}","nl":"Nieuws van {{ edition.name }}","pl":"Nowości z {{ edition.name }}"}}},{"id":"blk_00000000000000000000020001","type":"rich_text","data":{"text":{"en":"<p>Hello {{ customer.first_name }},</p><p>Write here what is new.</p>","da":"<p>Hej {{ customer.first_name }},</p><p>Skriv her, hvad der er nyt.</p>","se":"<p>Hej {{ customer.first_name }},</p><p>Skriv här vad som är nytt.</p>","nl":"<p>Hallo {{ customer.first_name }},</p><p>Schrijf hier wat er nieuw is.</p>","pl":"<p>Cześć {{ customer.first_name }},</p><p>Napisz tutaj, co nowego.</p>"}}},{"id":"blk_00000000000000000000020002","type":"footer","data":{"text":{}}}]',
  1767225600000, 1767225600000);
