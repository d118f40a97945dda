import type { CollectedHeader } from './collected-header.ts'

/** Headers whose misses were looked at while the suggestions were improved. */
export const tunedHeaders: readonly CollectedHeader[] = [
  {
    about: 'HelloAsso, participants in French',
    source: "a public test of a reader of HelloAsso's export (HelloAssoCsvImportServiceTest.php)",
    rows: 'tickets',
    columns: `Référence commande = orderno > order.external_id; Date de la commande = dmytime > order.created;
      Statut de la commande = statusfr > order.status; Nom participant = last > item.user.last_name;
      Prénom participant = first > item.user.first_name; Nom payeur = buyerlast > customer.last_name;
      Prénom payeur = buyerfirst > customer.first_name; Email payeur = buyermail > customer.email;
      Raison sociale = blank; Moyen de paiement = methodfr; Billet = link;
      Numéro de billet = row > item.vendor_code; Tarif = product > item.product;
      Montant tarif = pricecomma > item.unit_price|item.line_total; Code Promo = code > order.coupon_code;
      Montant code promo = blank > -|order.discount; Adresse Mail de Contact = mail > -|item.user.email;
      Droit à L'image = ouinon; Nom de votre personnage = text`,
  },
  {
    about: 'Goldstar, will-call list whose first header is the show',
    source: 'github.com/armandofox/audience1st, spec/test_files/goldstar',
    rows: 'orders',
    columns: `Red Velvet = blank; Last Name = buyerlast > customer.last_name;
      First Name = buyerfirst > customer.first_name; Qty = tickets > item.quantity; Date = eventday;
      Time Note = eventtime; Offer = product > item.product; Purchase # = orderno > order.external_id;
      Note = text`,
  },
  {
    about: 'WebTix, orders of a show',
    source: 'github.com/armandofox/audience1st, spec/test_files/webtix_dbf/love_song.csv',
    rows: 'orders',
    columns: `ORDERNUM = orderno > order.external_id; ABBREV = eventcode > -|item.product; CSHOWDATE = eventday;
      SHOW_TIME = eventtime; CLERK = clerk; TOTAL_TIX = tickets > item.quantity;
      TOTAL_SALE = total > order.amount|item.line_total; CARDNUMBER = blank; EXP = blank;
      CTODAYDATE = date > order.created; TODAY_TIME = time > order.created|-; CC_AUTH = blank;
      PAY_TYPE = method; SERVCHARGE = orderfee > order.service_fee|-; PAY1 = zero; PAY2 = zero; PAY3 = zero;
      PAY4 = zero; PAY5 = zero; PAY6 = zero; PAY7 = zero; PAY8 = zero; PAY9 = zero; PAY10 = zero;
      CAT1_TIX = nil; CAT2_TIX = nil; CAT3_TIX = nil; CAT4_TIX = nil; CAT5_TIX = nil; CAT6_TIX = nil;
      CAT7_TIX = nil; CAT8_TIX = nil; CAT9_TIX = nil; CAT10_TIX = nil; CAT11_TIX = nil; CAT12_TIX = nil;
      CAT13_TIX = nil; CAT14_TIX = nil; CAT15_TIX = nil; CAT16_TIX = nil; CAT17_TIX = nil; CAT18_TIX = nil;
      CAT19_TIX = nil; CAT20_TIX = nil; CAT21_TIX = nil; CAT22_TIX = nil; CAT23_TIX = nil; CAT24_TIX = nil;
      CAT25_TIX = nil; CAT26_TIX = nil; CAT27_TIX = nil; CAT28_TIX = nil; CAT29_TIX = nil; CAT30_TIX = nil;
      CAT31_TIX = nil; CAT32_TIX = nil; CAT33_TIX = nil; CAT34_TIX = nil; CAT35_TIX = nil; CAT36_TIX = nil;
      CAT37_TIX = nil; CAT38_TIX = nil; CAT39_TIX = nil; CAT40_TIX = nil; CAT41_TIX = nil; CAT42_TIX = nil;
      CAT43_TIX = nil; CAT44_TIX = nil; CAT45_TIX = nil; CAT46_TIX = nil; CAT47_TIX = nil; CAT48_TIX = nil;
      TIXDISP = blank; SEATLIST = seat; FIRST = buyerfirst > customer.first_name;
      LAST = buyerlast > customer.last_name; COMPANY = blank; ADDRESS = street; CITY = city; STATE = blank;
      ZIP = zip; ACCOUNT = buyerid; REMARKS = text; COUNTRY = country; FAX = blank;
      WORKPHONE = blank > -|customer.phone_number; PHONE = phone > customer.phone_number;
      EMAIL = buyermail > customer.email; FIRST2 = blank; LAST2 = blank; COMPANY2 = blank; ADDRESS2 = blank;
      CITY2 = blank; STATE2 = blank; ZIP2 = blank; COUNTRY2 = blank`,
  },
  {
    about: 'Event Schedule, sales',
    source: 'github.com/eventschedule/eventschedule, app/Http/Controllers/TicketController.php',
    rows: 'orders',
    columns: `Name = buyer > customer.full_name; Email = buyermail > customer.email;
      Phone = phone > customer.phone_number; Event = event; Event Date = eventday;
      Tickets = summary > item.product|-; Add-ons = blank > -|item.options; Quantity = tickets > item.quantity;
      Amount = total > order.amount|item.line_total; Currency = currency > order.currency;
      Promo Code = code > order.coupon_code; Discount = zero > order.discount|-; Gift Card = blank;
      Gift Card Amount = blank; Transaction Reference = payment > order.payment_reference;
      Payment Method = method; Status = paid > order.status; Date = datetime > order.created; Group ID = blank;
      Order ID = orderno > order.external_id; Check-in Status = yes; Check-in Time = scan; Pass Type = blank;
      Pass Visits Used = blank; Pass Expires = blank`,
  },
  {
    about: 'Spree, line items of orders',
    source: 'github.com/spree/spree, spree/core/app/presenters/spree/csv/order_line_item_presenter.rb',
    rows: 'tickets',
    columns: `Number = order > order.external_id; Email = buyermail* > customer.email; Status = status* > order.status;
      Currency = currency* > order.currency; Subtotal = total*; Shipping = zero*; Taxes = zero*;
      Taxes included = truefalse*; Discount Used = truefalse*; Free Shipping = truefalse*;
      Discount = zero* > order.discount|-; Discount Code = code* > order.coupon_code;
      Store Credit amount = zero*; Total = total* > order.amount; Shipping method = channel*;
      Total weight = zero*; Payment Type Used = method*; Product ID = productid;
      Item Quantity = one > item.quantity; Item SKU = sku; Item Name = product > item.product;
      Item Price = price > item.unit_price; Item Total Discount = zero;
      Item Total Price = price > item.line_total|-; Item requires shipping = truefalse;
      Item taxbale = truefalse; Item Seller = clerk; Category lvl0 = category; Category lvl1 = blank;
      Category lvl2 = blank; Category lvl3 = blank; Category lvl4 = blank;
      Billing Name = buyer* > customer.full_name; Billing Address 1 = street*; Billing Address 2 = blank;
      Billing Company = blank; Billing City = city*; Billing Zip = zip*; Billing State = blank;
      Billing Country = country*; Billing Phone = phone* > customer.phone_number; Shipping Name = buyer*;
      Shipping Address 1 = street*; Shipping Address 2 = blank; Shipping Company = blank; Shipping City = city*;
      Shipping Zip = zip*; Shipping State = blank; Shipping Country = country*; Shipping Phone = phone*;
      Placed at = datetime* > order.created; Shipped at = blank; Cancelled at = blank; Cancelled by = blank;
      Notes = text*`,
  },
  {
    about: 'Sylius, orders of its export plugin',
    source: 'github.com/FriendsOfSylius/SyliusImportExportPlugin, src/Resources/config/services_export_csv.yml',
    rows: 'orders',
    columns: `Number = orderno > order.external_id; State = sylius > order.status|-;
      Product_list = summary > item.product|-; Total = total > order.amount|item.line_total;
      Currency_code = currency > order.currency; Checkout_completed_at = datetime > order.created;
      Checkout_state = completed; Payment_state = paid > order.status|-; Shipping_state = shipped;
      Token_value = uuid; Gender = gender; Full_name = buyer > customer.full_name;
      Email = buyermail > customer.email; Telephone = phone > customer.phone_number; Shipping_address = street;
      Billing_address = street; Customer_ip = ip; Notes = text`,
  },
  {
    about: 'Mobilizon, participants',
    source: 'github.com/framasoft/mobilizon, lib/service/export/participants/common.ex',
    rows: 'orders',
    columns: `Participant name = buyer > customer.full_name|item.user.full_name;
      Participant status = participant > order.status|item.status;
      Participant registration date = datetime > order.created; Participant message = text`,
  },
  {
    about: "A venue's booking form, bookings",
    source: 'public source code that writes bookings with fputcsv',
    rows: 'orders',
    columns: `Booking ID = count > order.external_id; Event = event > -|item.product; Event Date = isoeventday;
      Start Time = eventtime; End Time = eventtime; Location = venue > -|item.location;
      Name = buyer > customer.full_name; Email = buyermail > customer.email;
      Phone = phone > customer.phone_number; Address = street; Message = text;
      Booking Status = bookingstatus > order.status; Submitted At = datetime > order.created`,
  },
  {
    about: 'A Swedish cycling series, registrations',
    source: 'public source code of a help page about the export of registrations',
    rows: 'orders',
    columns: `Startnummer = count > -|item.vendor_code; Förnamn = buyerfirst > customer.first_name|item.user.first_name;
      Efternamn = buyerlast > customer.last_name|item.user.last_name;
      Klass = product > item.product|item.variant|-; Klubb = company; Licens = licence; Kön = gender;
      Födelseår = year; E-post = buyermail > customer.email|item.user.email;
      Telefon = phone > customer.phone_number; Betald = janej > order.status|-; Källa = channel`,
  },
  {
    about: 'A Danish booking plugin, bookings',
    source: 'public source code that writes bookinger-….csv',
    rows: 'orders',
    columns: `Dato = isoeventday; Tid = eventtime; Navn = buyer > customer.full_name;
      E-mail = buyermail > customer.email; Telefon = phone > customer.phone_number; Besked = text;
      Status = bookingstatus > order.status; Oprettet = datetime > order.created`,
  },
  {
    about: 'A college event app, registrations',
    source: 'public source code that writes registrations with a UTR number',
    rows: 'orders',
    columns: `Registration ID = objectid > order.external_id|-;
      Participant Name = buyer > customer.full_name|item.user.full_name;
      Email Address = buyermail > customer.email|item.user.email; College Affiliation = company;
      ID Card Number = doc; Name On ID Card = buyer; Department = category;
      Registration Date = isolocal > order.created; Ticket Status = verified > item.status|order.status;
      Ticket Code = ticket > item.vendor_code;
      Amount Paid (INR) = price > item.unit_price|item.line_total|order.amount;
      UTR Number = payment > order.payment_reference|-; Checked In = yes; Checked In Time = scan;
      Suspicious = no; Suspicious Note = blank`,
  },
  {
    about: 'A check-in app with tables, attendees',
    source: 'public source code that writes attendees of checkin_event',
    rows: 'orders',
    columns: `Name = buyer > customer.full_name|item.user.full_name; Email = buyermail > customer.email|item.user.email;
      Phone = phone > customer.phone_number; Table Type = product > item.product|item.variant;
      Table Size = tablesize > -|item.quantity;
      Amount Paid = total > order.amount|item.line_total|item.unit_price; Source = channel;
      Sale Location = venue; Ticket Code = ticket > item.vendor_code; Checked In = yes; Check-In Time = scan;
      Added At = datetime > order.created`,
  },
  {
    about: "A members' club, tickets with tiers",
    source: 'public source code of an export of tickets (build_csv_rows)',
    rows: 'tickets',
    columns: `Attendee Email = mail > item.user.email; Attendee First Name = first > item.user.first_name;
      Attendee Last Name = last > item.user.last_name; Purchase Date = uslong > order.created;
      Purchaser Email = buyermail > customer.email; Purchaser First Name = buyerfirst > customer.first_name;
      Purchaser Last Name = buyerlast > customer.last_name; Purchaser Phone = phone > customer.phone_number;
      Registration Provided = yes; Ticket Reference = ticket > item.vendor_code;
      Ticket Tier = product > item.product`,
  },
  {
    about: 'An Airtable base, event reservations',
    source: 'public source code that reads a table of event reservations',
    rows: 'orders',
    columns: `Reservation Name = reservation; Event = event; Ticket / Package Option = product > item.product;
      Quantity = tickets > item.quantity; Purchaser First Name = buyerfirst > customer.first_name;
      Purchaser Last Name = buyerlast > customer.last_name; Purchaser Email = buyermail > customer.email;
      Purchaser Phone = phone > customer.phone_number; Guest Names = names; Special Requests = text;
      Amount Due = total > -|order.amount|item.line_total; Amount Paid = total > order.amount|item.line_total|-;
      Payment Status = paid > order.status|-; Payment Method = method;
      Payment Reference = payment > order.payment_reference;
      Reservation Status = bookingstatus > order.status|-; Confirmation Number = order > order.external_id;
      Submitted At = iso > order.created; Confirmed At = iso; Internal Notes = blank`,
  },
  {
    about: 'An event marketplace, transactions',
    source: 'public source code of a report of sales in PHP',
    rows: 'tickets',
    columns: `Transaction Date = datetime > order.created; Admin Id = eventid; User Id = buyerid; Event Id = eventid;
      Event Name = event; Transaction Id = payment > order.external_id|order.payment_reference;
      Cart Id = orderno > order.external_id|-; Quantity = one > item.quantity; Ticket Id = productid;
      Ticket Name = product > item.product; Price = price > item.unit_price; Commission = fee;
      Total = price > item.line_total|order.amount|-; Currency = currency > order.currency;
      Net To Admin = price`,
  },
  {
    about: 'A fund-raising dinner, buyers with groups',
    source: 'public source code with a sample of its own export',
    rows: 'orders',
    columns: `Buyer Name = buyer > customer.full_name; Attendee Names = names > -|item.user.full_name;
      Email = buyermail > customer.email; Phone = phone > customer.phone_number; Group Name = company;
      Persons Attending = tickets > item.quantity|-; Payment Status = paid > order.status;
      Payment Reference = payment > order.payment_reference|order.external_id; Dietary Notes = text;
      Ticket Code = order > item.vendor_code|order.external_id; Preferred School = category`,
  },
  {
    about: 'A pledge manager, backers',
    source: 'public source code of an export of users by backer number',
    rows: 'orders',
    columns: `Backer Number = count > order.external_id|-; Email = buyermail > customer.email;
      Name = buyer > customer.full_name; Reward Tier = product > item.product;
      Pledge Amount = total > order.amount|item.line_total|item.unit_price;
      Completed = truefalse > -|order.status; Created = datetime > order.created`,
  },
  {
    about: 'Bandcamp, sales',
    source: "a public test of a reader of Bandcamp's sales report",
    rows: 'tickets',
    columns: `date = usshort > order.created; item type = category; item name = product > item.product;
      currency = currency > order.currency; sub total = price > item.unit_price|item.line_total|-;
      additional fan contribution = zero; amount you received = price;
      bandcamp transaction id = orderno > order.external_id|order.payment_reference;
      bandcamp transaction item id = row > -|item.vendor_code; bandcamp related transaction id = blank;
      item url = link; buyer name = buyer > customer.full_name; buyer email = buyermail > customer.email;
      ship to street = street`,
  },
  {
    about: "A school's events, attendees with balances",
    source: 'public source code of a report of a school',
    rows: 'orders',
    columns: `Event = event > -|item.product; Attendee Name = buyer > item.user.full_name|customer.full_name;
      Attendee Email = buyermail > item.user.email|customer.email;
      Registration Status = bookingstatus > order.status|item.status;
      Total Cost = total > order.amount|item.line_total|item.unit_price|-;
      Total Paid = total > order.amount|item.line_total|item.unit_price|-; Balance Due = zero`,
  },
  {
    about: 'A campus store, purchases',
    source: 'a public test of an upload of purchases',
    rows: 'orders',
    columns: `Buyer First Name = buyerfirst > customer.first_name; Buyer Last Name = buyerlast > customer.last_name;
      Buyer Email = buyermail > customer.email; Item Name = product > item.product;
      Item Price = price > item.unit_price; Quantity = tickets > item.quantity;
      Total Paid = linetotal > item.line_total|order.amount|-; Comments = text; Status = status > order.status;
      Date = usdate > order.created`,
  },
  {
    about: 'An Egyptian ticket site, attendees',
    source: 'public source code of an export of attendees in C#',
    rows: 'tickets',
    columns: `Booking ID = hash > order.external_id; Attendee Name = person > item.user.full_name|customer.full_name;
      Attendee Email = mail > item.user.email|customer.email; Ticket Type = product > item.product;
      Price (EGP) = price > item.unit_price; Booking Date = datetime > order.created; Checked In = yes;
      Checked In Time = scan`,
  },
  {
    about: 'An old PHP shop, list of orders',
    source: 'public source code of a report of orders',
    rows: 'orders',
    columns: `Order Id = count > order.external_id; Order Date = datetime > order.created;
      Name = buyer > customer.full_name; Phone = phone > customer.phone_number;
      Email = buyermail > customer.email; Address = street; Country = country; City = city`,
  },
  {
    about: 'A wholesale app, report of orders',
    source: 'public source code of reports (orders_report.csv)',
    rows: 'orders',
    columns: `ID = uuid > order.external_id; Buyer Name = buyer > customer.full_name;
      Buyer Email = buyermail > customer.email; Status = status > order.status;
      Item Count = tickets > item.quantity|-; Created At = iso > order.created`,
  },
  {
    about: 'A Brazilian event panel, participants',
    source: 'public source code of an export of participants in Portuguese',
    rows: 'orders',
    columns: `Código = order > order.external_id|item.vendor_code;
      Nome = buyer > customer.full_name|item.user.full_name; Email = buyermail > customer.email|item.user.email;
      Telefone = phone > customer.phone_number; Documento = doc; Evento = event; Data Evento = eventday;
      Tipo Ingresso = product > item.product; Quantidade = tickets > item.quantity;
      Valor Total = totalreal > order.amount|item.line_total; Status Pagamento = paidpt > order.status;
      Método Pagamento = methodpt; Status Inscrição = statuspt > -|order.status|item.status;
      Data Check-in = blank; Data Inscrição = dmytime > order.created`,
  },
  {
    about: 'A Brazilian ticket shop, tickets with a token',
    source: 'public source code of a page of tickets in Portuguese',
    rows: 'orders',
    columns: `Nº Ingresso = ticket > item.vendor_code; Token Antifraude = hex > -|item.vendor_code; Evento = event;
      Lote = batch > -|item.variant; Tipo = product > item.product|item.variant;
      Cliente = buyer > customer.full_name; WhatsApp = phone > customer.phone_number;
      Valor = pricereal > item.unit_price|item.line_total; Status = statuspt > item.status|order.status;
      Data Compra = dmytime > order.created; Check-in = simnao`,
  },
  {
    about: 'An Italian wholesaler, lines of orders',
    source: 'public source code of ordersToCsv in Italian',
    rows: 'tickets',
    columns: `Numero ordine = order > order.external_id; Data = itdate > order.created; Codice cliente = buyerid;
      Ragione sociale = company > -|customer.full_name; Codice articolo = sku;
      Prodotto = product > item.product; Imballo = box; Quantita = one > item.quantity;
      Prezzo unitario = pricecomma > item.unit_price; Totale riga = pricecomma > item.line_total|-;
      Stato = statusit > order.status`,
  },
  {
    about: 'Tendenci, roster of registrants',
    source: 'github.com/tendenci/tendenci, tendenci/apps/events/views.py',
    rows: 'tickets',
    columns: `first_name = first > customer.first_name|item.user.first_name;
      last_name = last > customer.last_name|item.user.last_name; phone = phone > customer.phone_number;
      email = mail > customer.email|item.user.email; position_title = category; company = company;
      address = street; city = city; state = blank; zip = zip; country = country; meal_option = text;
      comments = text; date = datetime > order.created; registration_id = orderno > order.external_id;
      addons = blank > -|item.options; is_primary = truefalse; amount = price > item.unit_price|item.line_total;
      price type = product > item.product|item.variant; invoice_id = invoice > -|order.order_number;
      registration price = total > -|order.amount; payment method = method; balance = zero;
      is_paid = truefalse > -|order.status; primary_registrant = blank`,
  },
  {
    about: 'Billetweb, participants with questions',
    source: "a public test guide of a check-in app that reads Billetweb's export",
    rows: 'tickets',
    columns: `"" = blank; Ticket = row > item.vendor_code|-; Barcode = barcode > item.vendor_code|-;
      Date = datetime > order.created; Day = isoday; Session = blank; Ticket = product > item.product;
      Category = blank > -|item.variant; Seating = blank; Name = last > item.user.last_name;
      First name = first > item.user.first_name; Email = mail > item.user.email;
      Purchaser name = buyerlast > customer.last_name; Purchaser first name = buyerfirst > customer.first_name;
      Purchaser email = buyermail > customer.email; Order = order > order.external_id; Origin = channel;
      Operator = blank; Payment = method; Price = price > item.unit_price|item.line_total;
      Amount repaid = zero > -|order.refunded_amount; Discount = blank > -|order.coupon_code;
      Discount amount = nil > -|order.discount; Authorization = blank; Paid = yes > -|order.status;
      Valid = yes > -|item.status; Used = no; Date of use = nodate; Day of use = nodate; Checkpoint = blank;
      How Did You Hear About Us? (Order) - #162835 = channel; Entreprise - #11 = company;
      Profession - #12 = category;
      I agree to share my personal information (name, email address) with our sponsors. - #162833 = one;
      I agree to share my company information (company name, role) with our sponsors. - #162834 = one;
      Détails = blank`,
  },
  {
    about: 'A sports festival in Spanish, registrations',
    source: 'github.com/kevincatagnaclearminds-cell/Wormy-PowerFest, EXPORTAR-IMPRIMIR.md',
    rows: 'orders',
    columns: `ID = key > order.external_id|-; Nombre = buyerfirst > customer.first_name|item.user.first_name;
      Apellido = buyerlast > customer.last_name|item.user.last_name; Teléfono = phone > customer.phone_number;
      Email = buyermail > customer.email|item.user.email; Deportes = category;
      Estado = statuses > order.status|item.status|-; Fecha de Registro = escomma > order.created;
      Fecha de Check-in = blank`,
  },
  {
    about: "A community's events in Spanish, attendees",
    source: 'github.com/PDAC95/12ea, docs/TASK-8.3-COMPLETED.md',
    rows: 'orders',
    columns: `Nombre = buyer > customer.full_name|item.user.full_name;
      Email = buyermail > customer.email|item.user.email; Teléfono = phone > customer.phone_number;
      Estado = confirmedes > order.status|item.status; Fecha de Registro = escomma > order.created`,
  },
  {
    about: 'A meetup site, RSVPs with tickets',
    source: 'a public guide of an offline ticket pipeline',
    rows: 'orders',
    columns: `id = uuid > order.external_id|-; name = buyer > customer.full_name|item.user.full_name;
      email = buyermail > customer.email|item.user.email; affiliation = company;
      status = rsvp > order.status|item.status; ticketNumber = count > item.vendor_code|-;
      qrCode = ticket > item.vendor_code|-; checkedInAt = scan; createdAt = iso > order.created;
      accountId = buyerid; linkedin = blank; twitter = blank; github = blank; website = blank;
      company = company; title = category`,
  },
  {
    about: 'Meetup, RSVPs of an event',
    source: "public source code that reads Meetup's export (RawAttendeeData)",
    rows: 'orders',
    columns: `Name = buyer > customer.full_name|item.user.full_name; Attendance = blank; User ID = userno;
      Title = blank; Event Host = blank; RSVP = yes > -|order.status; Guests = nil > -|item.quantity;
      RSVPed on = uslongdate > order.created; Joined Group on = uslongdate; URL of Member Profile = link;
      Notes = blank`,
  },
]
